/**
 * The state of a machine, written to a file and read into another process. That of a template is without its memory, which stays in a file that
 * every copy maps; that of a suspended machine is with all of it.
 */
import { once } from 'node:events';
import { chmodSync, closeSync, createReadStream, createWriteStream, openSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError } from '#lib/errors.ts';
import { SOCKETS } from './args.ts';
import type { Machine } from './machine.ts';
import { pauseMachine } from './pause.ts';
import type { Qmp } from './qmp.ts';

export interface Saving {
  /** The run directory of the machine. */
  readonly run: string;
  readonly path: string;
  /** Whether what is in its memory is part of it. */
  readonly hasMemory: boolean;
  readonly signal: AbortSignal;
}

export interface Restoring extends Pick<Saving, 'path' | 'hasMemory' | 'signal'> {
  /** When all is read, before anything goes on. */
  readonly onLoaded?: () => Promise<void>;
}

const LOOK_MS = 5;
const HUNG_UP: ReadonlySet<string | undefined> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET']);
/** Bytes per second: as fast as it goes. Without a word QEMU is considerate of a network. */
const BANDWIDTH = 4 * 1024 ** 3;
const READ_BYTES = 1024 ** 2;

/** Memory that is in a shared file may be left out. Said in any case: a copy of a template has been told before. */
async function setMemory(qmp: Qmp, hasMemory: boolean): Promise<void> {
  await qmp.execute('migrate-set-capabilities', { capabilities: [{ capability: 'x-ignore-shared', state: !hasMemory }] });
}

/** The machine stands still from then on. */
export async function saveState(machine: Machine, { run, path, hasMemory, signal }: Saving): Promise<void> {
  const qmp = await machine.qmp(signal);
  await setMemory(qmp, hasMemory);
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': BANDWIDTH });
  await pauseMachine(machine, true);
  const server = createServer();
  const directory = openSync(run, 'r');
  try {
    // By the descriptor: the path itself may be longer than the kernel takes.
    const socket = `/proc/self/fd/${directory}/${SOCKETS.migration}`;
    // Of a daemon that was killed while it saved.
    rmSync(socket, { force: true });
    server.listen(socket);
    await once(server, 'listening', { signal });
    chmodSync(socket, 0o666);
    const accepted = once(server, 'connection', { signal }) as Promise<[Socket]>;
    // Both at once: whichever fails first, the other is not left to fail with nobody there to hear it, which would end the daemon.
    const [[stream]] = await Promise.all([accepted, qmp.execute('migrate', { uri: `unix:${SOCKETS.migration}` })]);
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }), { signal });
    const status = await migrationEnd(qmp, signal);
    if (status !== 'completed') throw new AgentisoError('Unavailable', `the state of the machine was not saved: ${status}`);
  } finally {
    server.close();
    closeSync(directory);
  }
}

/** QEMU hangs up a moment before it says so. */
async function migrationEnd(qmp: Qmp, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const { status } = (await qmp.execute('query-migrate')) as { readonly status?: string };
    if (status !== 'active' && status !== 'device') return status;
    await pause(LOOK_MS, undefined, { signal });
  }
}

/** Of a machine that waits for it; true when it did. It runs then. */
export async function restoreState(machine: Machine, { path, hasMemory, signal, onLoaded }: Restoring): Promise<boolean> {
  const qmp = await machine.qmp(signal);
  if ((await statusOf(qmp)) !== 'inmigrate') return false;
  await machine.openPorts(signal);
  await setMemory(qmp, hasMemory);
  // Nobody is to hear of the address that the template had.
  await qmp.execute('migrate-set-parameters', { 'announce-rounds': 0 });
  await qmp.execute('migrate-incoming', { uri: `unix:${SOCKETS.migration}` });
  const socket = await machine.dial('migration', signal);
  // QEMU hangs up when it has all it needs, on a busy machine before the end was said; whether it has, its status tells. It may do so when all of it is on the way and
  // nobody waits for that any more: an error that nobody hears would end the daemon.
  socket.on('error', () => {});
  const file = createReadStream(path, hasMemory ? { highWaterMark: READ_BYTES } : {});
  await pipeline(file, socket, { signal }).catch((error: NodeJS.ErrnoException) => {
    if (!HUNG_UP.has(error.code)) throw error;
  });
  for (let status = 'inmigrate'; status !== 'paused'; status = await statusOf(qmp)) {
    if (status === 'running') return true;
    await pause(LOOK_MS, undefined, { signal });
  }
  await onLoaded?.();
  await qmp.execute('cont');
  return true;
}

async function statusOf(qmp: Qmp): Promise<string> {
  return ((await qmp.execute('query-status')) as { readonly status: string }).status;
}
