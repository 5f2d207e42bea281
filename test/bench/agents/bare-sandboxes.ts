/** The floor: bubblewrap with the arguments that the driver gives it, around one line of JavaScript, and nothing before or after it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { uidOf } from '#drivers/local/team-uid.ts';
import { bubblewrapCommand, TOOL_PATH } from '#drivers/sandbox/args.ts';
import { ensureFolder } from '#drivers/sandbox/folder.ts';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import type { Machine } from './sandboxes.ts';

const TEAM = 1;
const TMP_BYTES = 256 * 1024 * 1024;
const START_TIMEOUT_MS = 60_000;
/** Says hello over a socket and stays. */
const HELLO = "require('node:net').connect('/run/agentiso/hello.sock').resume().write('hello\\n');";
/** Says so on its standard output: that takes nothing that node has not loaded. */
export const IDLE = "require('node:fs').writeSync(1, 'idle\\n'); setInterval(() => {}, 1e9);";

export interface BareSandbox {
  /** Of bubblewrap. */
  readonly pid: number;
  end(): Promise<void>;
}

export interface BareSandboxes {
  /** Resolves when the program has said something, over the socket or on its standard output. */
  start(slot: number): Promise<BareSandbox>;
}

/** Folders are made ahead: the floor has as many slots as may run at once. */
export async function openBareSandboxes(
  context: BenchContext,
  machine: Machine,
  { slots = 1, script = HELLO } = {},
): Promise<BareSandboxes> {
  const root = join(context.dir, 'bare');
  const isRoot = machine.mode === 'root';
  const uid = isRoot ? uidOf(TEAM) : undefined;
  mkdirSync(root);
  // The team's uid has to come through.
  if (isRoot) for (const path of [context.dir, root]) chmodSync(path, 0o711);
  const program = join(root, 'hello.cjs');
  writeFileSync(program, script);
  const prepared: (() => Promise<BareSandbox>)[] = [];
  for (let slot = 0; slot < slots; slot += 1)
    prepared.push(await prepareSlot(context, { machine, program, uid, folder: join(root, `${slot}`) }));
  return {
    async start(slot) {
      const found = prepared[slot];
      if (found === undefined) throw new BenchError(`there are ${slots} slots for bare sandboxes`);
      return found();
    },
  };
}

interface Slot {
  readonly machine: Machine;
  readonly program: string;
  readonly uid: number | undefined;
  readonly folder: string;
}

async function prepareSlot({ own }: BenchContext, { machine, program, uid, folder }: Slot): Promise<() => Promise<BareSandbox>> {
  const { abilities } = machine;
  for (const path of [folder, join(folder, 'run'), join(folder, 'state')]) mkdirSync(path, { mode: 0o700 });
  const { files, seccompPath } = await ensureFolder({
    ...{ directory: folder, hostname: 'bench', guestAgentPath: program, seccomp: abilities.seccomp, canOverlay: false },
    ...(uid !== undefined && { uid }),
  });
  const argv = bubblewrapCommand({
    ...{
      identity: { id: 'bare', incarnation: 'bare' },
      hostname: 'bench',
      mark: 'bare',
      folder,
      files,
      egress: false,
      tmpBytes: TMP_BYTES,
    },
    ...{ guestAgent: join(folder, 'guest-agent.cjs'), node: abilities.node, host: abilities.host, isUnconnected: true },
    canDisableUserns: abilities.canDisableUserns,
  });
  const server = createServer();
  server.listen({ path: join(folder, 'run', 'hello.sock'), writableAll: true });
  await once(server, 'listening');
  own({ close: async () => void server.close() });
  return () => startBare({ argv, seccompPath, uid, server });
}

interface BareStart {
  readonly argv: readonly string[];
  readonly seccompPath: string;
  readonly uid: number | undefined;
  readonly server: Server;
}

async function startBare({ argv, seccompPath, uid, server }: BareStart): Promise<BareSandbox> {
  const [program = '', ...args] = argv;
  const seccomp = openSync(seccompPath, 'r');
  const spawned = spawn(program, args, {
    env: { PATH: TOOL_PATH },
    stdio: ['ignore', 'pipe', 'inherit', seccomp],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  closeSync(seccomp);
  // Not only bubblewrap, but all that has its standard output: what is still being taken apart would be charged to whoever is measured next.
  const ended = once(spawned, 'close');
  await firstWord(spawned, server);
  return {
    pid: spawned.pid ?? 0,
    async end() {
      // bubblewrap's own end is the end of everything in it.
      spawned.kill('SIGKILL');
      spawned.stdout?.resume();
      await ended;
    },
  };
}

function firstWord(child: ChildProcess, server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(new BenchError('a bare sandbox said nothing')), START_TIMEOUT_MS);
    const settle = (problem?: Error): void => {
      clearTimeout(timer);
      server.removeAllListeners('connection');
      if (problem === undefined) resolve();
      else reject(problem);
    };
    server.once('connection', (socket) => socket.once('data', () => settle()).on('error', () => {}));
    child.stdout?.once('data', () => settle());
    child.once('error', settle).once('exit', (code) => settle(new BenchError(`a bare sandbox ended with ${code}`)));
  });
}
