/**
 * Runs a program once and keeps the code that V8 compiled for it: `node warm-up.cjs PROGRAM CACHE ARGUMENT...`. What an earlier run has
 * kept is taken along. Node of another version or with other flags does not take the cache and compiles for itself.
 */
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { basename, resolve } = require('node:path');
const v8 = require('node:v8');
const { Script } = require('node:vm');

const [node, , program, cache, ...args] = process.argv;
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
// Word for word as src/launch.ts wraps and names it: the name stays with the compiled code, and says nothing of where that was made.
const script = new Script(`(function (require, __filename) {${readFileSync(program, 'utf8')}\n})`, {
  filename: basename(program),
  cachedData,
});
// V8 takes the code only where the flags are those that it was kept with, and a program may set some after it is loaded.
v8.setFlagsFromString = () => {};
process.argv = [node, program, ...args];
script.runInThisContext()(createRequire(resolve(program)), resolve(program));
process.on('exit', () => {
  writeFileSync(cache, script.createCachedData());
});
