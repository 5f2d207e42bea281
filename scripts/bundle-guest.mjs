/**
 * Bundles the guest agent: `node bundle-guest.mjs DIRECTORY` makes guest-agent.cjs, which is what a driver starts, guest-agent.pack, the
 * program with the code that V8 compiled for it (guest-agent/launch.ts says how they go together), bin/team, the command of the agents, and
 * prompt-runner.cjs, which the guest starts for each prompt.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [, , target] = process.argv;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const aside = mkdtempSync(join(tmpdir(), 'agentiso-bundle-'));
/** As stacks show it: compiled code keeps the name it was compiled under. */
const PROGRAM = 'guest-agent.js';
const program = join(aside, PROGRAM);
const cache = join(aside, 'guest-agent.cache');
// Names stay: the stack of a guest that failed is all that is left of it.
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20.19', format: 'cjs', legalComments: 'none' };
const small = { minifySyntax: true, minifyWhitespace: true, charset: 'ascii', logLevel: 'error' };
/** To a shell the second line is a command that does nothing and one that starts Node; to Node it is a word and a comment. */
const START_NODE = `#!/bin/sh\n':' //; exec "\${AGENTISO_NODE:-node}" "$0" "$@"`;
const team = join(target, 'bin', 'team');

try {
  await build({ ...common, ...small, entryPoints: ['guest-agent/main.ts'], outfile: program });
  await build({ ...common, ...small, entryPoints: ['guest-agent/launch.ts'], outfile: join(target, 'guest-agent.cjs') });
  await build({ ...common, ...small, entryPoints: ['guest-agent/team/main.ts'], outfile: team, banner: { js: START_NODE } });
  const runner = join(target, 'prompt-runner.cjs');
  await build({ ...common, ...small, entryPoints: ['src/prompt-runner/main.ts'], outfile: runner });
  chmodSync(team, 0o755);
  const host = join(aside, 'rehearse-guest.mjs');
  await build({ ...common, entryPoints: ['scripts/rehearse-guest.ts'], outfile: host, format: 'esm' });
  await warmUp(await import(pathToFileURL(host).href));
  writeFileSync(join(target, 'guest-agent.pack'), pack(wrapped(readFileSync(program)), readFileSync(cache)));
} finally {
  rmSync(aside, { recursive: true, force: true });
}

/** Word for word as scripts/warm-up.cjs wraps it. */
function wrapped(source) {
  return Buffer.concat([Buffer.from('(function (require, __filename) {'), source, Buffer.from('\n})')]);
}

function pack(source, compiled) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(source.length);
  return Buffer.concat([length, source, compiled]);
}

/** A short life with a host and a few tasks: then everything is compiled that every start and every task needs. */
async function warmUp({ rehearse }) {
  const identity = { id: 'warm-up', incarnation: 'warm-up' };
  const places = ['run', 'state', 'workspace'].map((name) => join(aside, name));
  for (const place of places) mkdirSync(place);
  const [run, state, workspace] = places;
  const who = ['--id', identity.id, '--incarnation', identity.incarnation];
  const args = [PROGRAM, cache, ...who, '--run', run, '--state', state, '--workspace', workspace];
  const stdio = ['ignore', 'pipe', 'ignore'];
  const guest = spawn(process.execPath, [join(root, 'scripts', 'warm-up.cjs'), ...args], { cwd: aside, stdio });
  const ended = once(guest, 'exit');
  await Promise.race([once(guest.stdout, 'data'), ended.then(fail)]);
  await rehearse({ runDir: run, ...identity });
  guest.kill('SIGTERM');
  await ended;
}

function fail() {
  throw new Error('the guest agent did not start');
}
