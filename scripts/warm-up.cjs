/**
 * Runs a program once and keeps the code that V8 compiled for it: `node warm-up.cjs PROGRAM CACHE ARGUMENT...`. Node of another version
 * or with other flags does not take the cache and compiles for itself.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { Script } = require('node:vm');

const [node, , program, cache, ...args] = process.argv;
// Word for word as src/launch.ts wraps it.
const script = new Script(`(function (require) {${readFileSync(program, 'utf8')}\n})`, { filename: program });
process.argv = [node, program, ...args];
script.runInThisContext()(require);
process.on('exit', () => {
  writeFileSync(cache, script.createCachedData());
});
