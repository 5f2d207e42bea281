/**
 * Who reads the mail. The agent has many programs and one inbox: what one of them was given is acknowledged when that one goes on, for
 * what another one does says nothing about it. Whoever is gone can no longer go on, and its mail is the next one's.
 */
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** By which a program that uses many connections says that it is one reader. */
export const READER_HEADER = 'agentiso-reader';
const MAX_WORD_CHARS = 200;
/** `process PID STARTED`, the latter as the kernel counts it: a number of a process comes again. */
const PROCESS = /^process (\d{1,10}) (\d{1,20})$/;
/** Fields of what stands behind the name of a program, which may be anything in brackets. */
const STATE = 0;
const STARTED = 19;
/** Ended, and nobody has asked how. */
const ENDED = ['Z', 'X'];

export interface Reader {
  readonly key: string;
  /** That it is there and may still go on. False: it may be, but nobody can know. */
  readonly isKnownToLive: () => boolean;
}

/** By the name that it has given itself, or by its connection. */
export function readerOf(request: { readonly headers: IncomingHttpHeaders; readonly socket: Socket }, session?: string): Reader {
  const word = request.headers[READER_HEADER];
  if (typeof word === 'string' && word !== '') return selfNamed(word.slice(0, MAX_WORD_CHARS));
  return session === undefined ? connectionReader(request.socket) : unseenReader(`session ${session}`);
}

/** One of which nothing is known but that it asks. */
export function unseenReader(key: string): Reader {
  return { key, isKnownToLive: () => false };
}

function selfNamed(word: string): Reader {
  const [, pid, started] = PROCESS.exec(word) ?? [];
  return { key: `named ${word}`, isKnownToLive: () => pid !== undefined && startOf(pid) === started };
}

/** As this process is to call itself. */
export function ownReaderWord(): string {
  return `process ${process.pid} ${startOf('self') ?? 0}`;
}

const ofConnections = new WeakMap<Socket, Reader>();
let connections = 0;

function connectionReader(socket: Socket): Reader {
  const known = ofConnections.get(socket);
  if (known !== undefined) return known;
  connections += 1;
  const reader: Reader = { key: `connection ${connections}`, isKnownToLive: () => !socket.destroyed };
  ofConnections.set(socket, reader);
  return reader;
}

/** Undefined when there is no such process, or no longer. */
function startOf(pid: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ENDED.includes(fields[STATE] ?? '') ? undefined : fields[STARTED];
  } catch {
    return undefined;
  }
}
