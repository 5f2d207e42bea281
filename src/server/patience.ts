/**
 * What a client has said while this process stood still (Ctrl-Z, a debugger, no processor for it) is heard after the timers that ran out
 * meanwhile. So nobody is cut off on the word of a timer alone: first, what has come is read.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** `silent` is called in the next turn if nothing has come by then, `heard` otherwise. */
export function afterReading(socket: Socket, { silent, heard = () => {} }: { silent(): void; heard?(): void }): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) silent();
    else heard();
  });
}

/** The last request of each connection. */
const last = new WeakMap<object, IncomingMessage>();

export function noteRequest(request: IncomingMessage): void {
  last.set(request.socket, request);
}

/** Of a request that is late: cut off at once, or, when some of it has come, after as long again if it is still not whole. */
export function judgeLate(socket: Socket, requestMs: number, cut: () => void): void {
  const before = last.get(socket);
  const late = before?.complete === false ? before : undefined;
  const isWhole = () => {
    const next = last.get(socket);
    return (late ?? (next === before ? undefined : next))?.complete === true;
  };
  const heard = () => {
    setTimeout(() => {
      if (!isWhole()) cut();
    }, requestMs).unref();
  };
  afterReading(socket, { silent: cut, heard });
}
