/** The state of a machine without its memory, which stays in its file: written once from a template, read into every copy. */
import { once } from 'node:events';
import { chmodSync, closeSync, createReadStream, createWriteStream, openSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError } from '#lib/errors.ts';
import { SOCKETS } from './args.ts';
import type { Machine } from './machine.ts';
import type { Qmp } from './qmp.ts';

const MIGRATE_MS = 30_000;
const LOOK_MS = 5;
const HUNG_UP: ReadonlySet<string | undefined> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET']);

/** Memory that is in a shared file is not part of it. */
async function leaveMemoryOut(qmp: Qmp): Promise<void> {
  await qmp.execute('migrate-set-capabilities', { capabilities: [{ capability: 'x-ignore-shared', state: true }] });
}

/** The machine stands still from then on. */
export async function saveState(machine: Machine, run: string, path: string): Promise<void> {
  const signal = AbortSignal.timeout(MIGRATE_MS);
  const qmp = await machine.qmp(signal);
  await leaveMemoryOut(qmp);
  await qmp.execute('stop');
  const server = createServer();
  const directory = openSync(run, 'r');
  try {
    // By the descriptor: the path itself may be longer than the kernel takes.
    const socket = `/proc/self/fd/${directory}/${SOCKETS.migration}`;
    server.listen(socket);
    await once(server, 'listening', { signal });
    chmodSync(socket, 0o666);
    const accepted = once(server, 'connection', { signal }) as Promise<[Socket]>;
    await qmp.execute('migrate', { uri: `unix:${SOCKETS.migration}` });
    const [stream] = await accepted;
    await pipeline(stream, createWriteStream(path, { mode: 0o600 }), { signal });
    const { status } = (await qmp.execute('query-migrate')) as { readonly status?: string };
    if (status !== 'completed') throw new AgentisoError('Unavailable', `the state of the machine was not saved: ${status}`);
  } finally {
    server.close();
    closeSync(directory);
  }
}

/** Of a machine that waits for it; true when it did. It runs then. */
export async function restoreState(machine: Machine, path: string, signal: AbortSignal): Promise<boolean> {
  const qmp = await machine.qmp(signal);
  if ((await statusOf(qmp)) !== 'inmigrate') return false;
  await machine.openPorts(signal);
  await leaveMemoryOut(qmp);
  // Nobody is to hear of the address that the template had.
  await qmp.execute('migrate-set-parameters', { 'announce-rounds': 0 });
  await qmp.execute('migrate-incoming', { uri: `unix:${SOCKETS.migration}` });
  // QEMU hangs up when it has all it needs, on a busy machine before the end was said; whether it has, its status tells.
  await pipeline(createReadStream(path), await machine.dial('migration', signal), { signal }).catch((error: NodeJS.ErrnoException) => {
    if (!HUNG_UP.has(error.code)) throw error;
  });
  for (let status = 'inmigrate'; status !== 'paused'; status = await statusOf(qmp)) {
    if (status === 'running') return true;
    await pause(LOOK_MS, undefined, { signal });
  }
  await qmp.execute('cont');
  return true;
}

async function statusOf(qmp: Qmp): Promise<string> {
  return ((await qmp.execute('query-status')) as { readonly status: string }).status;
}
