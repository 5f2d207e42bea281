/**
 * Preloaded into a daemon: kills it at one step of giving a sandbox of the pool to an agent. AGENTISO_DIE_AT is the name of the step: naming and
 * named (of its network), renaming and renamed (of its folder), binding, recording and recorded.
 */
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { basename, dirname } = require('node:path');
const { syncBuiltinESMExports } = require('node:module');
const { isMainThread } = require('node:worker_threads');

const dieAt = process.env.AGENTISO_DIE_AT;
const step = (name) => {
  if (name === dieAt) process.kill(process.pid, 'SIGKILL');
};
/** Folders that have been given away. */
const given = new Set();

/** Its input tells what it does. */
function watchNaming(child) {
  const { end } = child.stdin;
  child.stdin.end = (input, ...rest) => {
    const isNaming = String(input).includes('netns attach');
    if (isNaming) child.once('close', () => step('named'));
    const result = end.call(child.stdin, input, ...rest);
    if (isNaming) step('naming');
    return result;
  };
}

// Programs that the daemon starts are not meant.
delete process.env.NODE_OPTIONS;
if (isMainThread) {
  const { spawn } = childProcess;
  childProcess.spawn = (...args) => {
    if (args[1]?.[0]?.startsWith('--uts=')) step('binding');
    const child = spawn(...args);
    if (child.stdin && args[1]?.includes('-batch')) watchNaming(child);
    return child;
  };
  const { rename } = fs.promises;
  fs.promises.rename = async (from, to) => {
    const isFolder = basename(from).startsWith('.pool-');
    if (isFolder) step('renaming');
    await rename(from, to);
    if (!isFolder) return;
    given.add(to);
    step('renamed');
  };
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    const isRecord = basename(to) === 'record.json' && given.has(dirname(to));
    if (isRecord) step('recording');
    renameSync(from, to);
    if (isRecord) step('recorded');
  };
  syncBuiltinESMExports();
}
