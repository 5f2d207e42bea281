/** A connection to a guest over vsock, which Node does not know: made by the system's own calls, then a stream like any other. */
import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError, UnavailableError, WaitingError } from '#lib/errors.ts';
import { holdDescriptor } from '#lib/pipe-handle.ts';
import { ANY_CID, LAST_RESERVED_PORT, VSOCK_FAMILY, VSOCK_PORTS, vsockAddress } from '#protocol/vsock.ts';

export type VsockPort = keyof typeof VSOCK_PORTS;

interface Calls {
  readonly socket: (family: number, type: number, protocol: number) => number;
  readonly bind: (fd: number, address: Buffer, bytes: number) => number;
  readonly connect: (fd: number, address: Buffer, bytes: number) => number;
  readonly poll: (entries: Buffer, count: number, timeoutMs: number) => number;
  readonly getsockopt: (fd: number, level: number, name: number, value: Buffer, bytes: Buffer) => number;
  readonly errno: () => number;
}

/** SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const TYPE = 1 | 0o4000 | 0o2000000;
const POLLOUT = 4;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
/** A guest that is there answers at once; for one that boots there is no hurry. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 64;
/** A guest that does not answer for so long is not up yet. The kernel gives up after two seconds by itself. */
const ANSWER_MS = 5_000;
/** Ports that other services of root have by custom are left alone. */
const FIRST_PORT = 600;
/** Nobody has this number; nobody listens; no answer. */
const NOT_THERE = ['ENODEV', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

let loaded: Calls | undefined;

function calls(): Calls {
  loaded ??= load();
  return loaded;
}

function load(): Calls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  return {
    socket: library.func('int socket(int, int, int)'),
    bind: library.func('int bind(int, void *, unsigned int)'),
    connect: library.func('int connect(int, void *, unsigned int)'),
    poll: library.func('int poll(void *, unsigned long, int)'),
    getsockopt: library.func('int getsockopt(int, int, int, void *, void *)'),
    errno: () => koffi.errno(),
  };
}

/** Rejects with WaitingError while the guest is not there. The port here is one that only root can have, by which the guest knows us. */
export async function dialVsock(cid: number, port: VsockPort, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted();
  const descriptor = calls().socket(VSOCK_FAMILY, TYPE, 0);
  if (descriptor < 0) throw unavailable('this machine has no vsock', lastError());
  try {
    takeReservedPort(descriptor);
    const address = vsockAddress(cid, VSOCK_PORTS[port]);
    if (calls().connect(descriptor, address, address.length) !== 0) await answered(descriptor, lastError(), signal);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return holdDescriptor(descriptor, `vsock ${cid}`).socket;
}

/** From a random one on, so that two of us seldom want the same. */
function takeReservedPort(descriptor: number): void {
  const count = LAST_RESERVED_PORT - FIRST_PORT + 1;
  const first = Math.floor(Math.random() * count);
  for (let tried = 0; tried < count; tried++) {
    const address = vsockAddress(ANY_CID, FIRST_PORT + ((first + tried) % count));
    if (calls().bind(descriptor, address, address.length) === 0) return;
    const name = lastError();
    if (name !== 'EADDRINUSE') throw unavailable('no port that only root may have', name);
  }
  throw unavailable('no port that only root may have', 'all are in use');
}

async function answered(descriptor: number, name: string, signal: AbortSignal): Promise<void> {
  if (name !== 'EINPROGRESS') throw connectError(name);
  const end = Date.now() + ANSWER_MS;
  for (let pauseMs = FIRST_LOOK_MS; !isSettled(descriptor); pauseMs = Math.min(pauseMs * 2, LAST_LOOK_MS)) {
    if (Date.now() > end) throw connectError('ETIMEDOUT');
    await pause(pauseMs, undefined, { signal });
  }
  const problem = errorOf(descriptor);
  if (problem !== 0) throw connectError(nameOf(problem));
}

function isSettled(descriptor: number): boolean {
  const entry = Buffer.alloc(8);
  entry.writeInt32LE(descriptor, 0);
  entry.writeInt16LE(POLLOUT, 4);
  return calls().poll(entry, 1, 0) === 1;
}

function errorOf(descriptor: number): number {
  const [value, length] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32LE(value.length);
  if (calls().getsockopt(descriptor, SOL_SOCKET, SO_ERROR, value, length) !== 0) return calls().errno();
  return value.readInt32LE();
}

function lastError(): string {
  return nameOf(calls().errno());
}

/** util.getSystemErrorName does not know all of them. */
function nameOf(errno: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `error ${errno}`;
}

function connectError(name: string): AgentisoError {
  if (NOT_THERE.includes(name)) return new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
  return new AgentisoError('IoError', `vsock: ${name}`);
}

function unavailable(what: string, name: string): UnavailableError {
  return new UnavailableError(`vsock: ${what}: ${name}`, { reason: 'VsockUnavailable' });
}
