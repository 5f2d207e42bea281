/** The bytes of what `-f` names. What may keep its reader waiting is read without being waited for, so that Ctrl-C ends it. */
import { closeSync, constants, openSync, readFileSync, readSync, type Stats, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentisoError } from '#lib/errors.ts';
import { INTERRUPTED } from '../command.ts';

const POLL_MS = 20;
const CHUNK_BYTES = 64 * 1024;

export async function readSource(path: string, signal: AbortSignal = new AbortController().signal): Promise<Buffer> {
  if (path === '-' || path === '/dev/stdin') return readStream(process.stdin, signal);
  const stat = statSync(path);
  if (stat.isFile()) return readFileSync(path);
  if (stat.isFIFO()) return readPipe(path, signal);
  throw new AgentisoError('Invalid', `${path} is ${whatIs(stat)}, not a file`, {
    hint: 'give a YAML or JSON file, a folder of them, or - for standard input',
  });
}

function whatIs(stat: Stats): string {
  if (stat.isSocket()) return 'a socket';
  return stat.isDirectory() ? 'a folder' : 'a device';
}

async function readStream(stream: Readable, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const stop = () => void stream.destroy(interrupted());
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Buffer));
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks);
}

/** A pipe with a name is empty until somebody opens it to write; one that a shell made for `<(…)` has its writer from the start. */
async function readPipe(path: string, signal: AbortSignal): Promise<Buffer> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  let hasWriter = /^\/(?:dev\/fd|proc)\//.test(path);
  try {
    for (;;) {
      if (signal.aborted) throw interrupted();
      const chunk = readWaiting(fd);
      if (chunk?.length === 0 && hasWriter) return Buffer.concat(chunks);
      hasWriter ||= chunk === undefined || chunk.length > 0;
      if (chunk && chunk.length > 0) chunks.push(chunk);
      else await delay(POLL_MS);
    }
  } finally {
    closeSync(fd);
  }
}

/** Undefined: its writer has nothing for us yet. Empty: it has none. */
function readWaiting(fd: number): Buffer | undefined {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  try {
    return chunk.subarray(0, readSync(fd, chunk));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function interrupted(): AgentisoError {
  return new AgentisoError('Unavailable', 'interrupted', { reason: INTERRUPTED });
}
