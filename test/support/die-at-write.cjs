/**
 * Preloaded into a daemon: counts every step that changes a file, and kills the process at one of them. A step counts when it is asked for and,
 * where it takes its time, once more when it is done and nobody knows yet: what is on disk and what was said about it differ most right then.
 * AGENTISO_DIE_AT is the number of the step (none: only count), AGENTISO_DIE_COUNT a file that is told the sum at the end.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { isMainThread } = require('node:worker_threads');

const NAMES = ['write', 'writev', 'writeFile', 'appendFile', 'fsync', 'fdatasync', 'rename', 'link', 'unlink', 'rm', 'mkdir', 'ftruncate'];
const OF_HANDLES = ['write', 'writev', 'writeFile', 'appendFile', 'sync', 'datasync', 'truncate'];
const STANDARD_ERROR = 2;

const dieAt = Number(process.env.AGENTISO_DIE_AT ?? 0);
const countFile = process.env.AGENTISO_DIE_COUNT;
let steps = 0;

function step() {
  steps += 1;
  if (steps === dieAt) process.kill(process.pid, 'SIGKILL');
}

/** Words on the terminal are not files. */
const isOutput = (target) => typeof target === 'number' && target <= STANDARD_ERROR;

function counting(original, owner) {
  return function counted(...args) {
    if (isOutput(args[0])) return original.apply(owner ?? this, args);
    step();
    const last = args.at(-1);
    if (typeof last === 'function') {
      args[args.length - 1] = (...results) => {
        step();
        last(...results);
      };
    }
    const result = original.apply(owner ?? this, args);
    return typeof result?.then === 'function' ? result.finally(step) : result;
  };
}

function countHandle(handle) {
  for (const name of OF_HANDLES) handle[name] = counting(handle[name].bind(handle), handle);
  return handle;
}

// Programs that the daemon starts are not meant.
delete process.env.NODE_OPTIONS;
if (isMainThread) {
  for (const name of NAMES) {
    fs[name] = counting(fs[name], fs);
    fs[`${name}Sync`] = counting(fs[`${name}Sync`], fs);
    if (fs.promises[name]) fs.promises[name] = counting(fs.promises[name], fs.promises);
  }
  const { open } = fs.promises;
  fs.promises.open = async (...args) => countHandle(await open(...args));
  syncBuiltinESMExports();
  if (countFile) process.on('exit', () => fs.writeFileSync(countFile, String(steps)));
}
