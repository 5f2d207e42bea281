/**
 * A connection to a port of a guest through the program that has its vsock on this machine, as a unix socket: one says which port is meant, and hears that
 * it was opened.
 */
import type { Socket } from 'node:net';
import { AgentisoError, WaitingError } from '#lib/errors.ts';
import { CALL_PORT, VSOCK_PORTS } from '#protocol/vsock.ts';

export type VsockPort = keyof typeof VSOCK_PORTS;

export interface AskedFor {
  /** The same socket: what it says from then on is the guest's. Rejects with WaitingError where the guest does not listen yet, and when `signal` is aborted. */
  readonly connected: Promise<Socket>;
  /** Never rejects. */
  readonly answered: Promise<void>;
}

/** Whoever has taken longer than this with an answer that nobody waits for will give none. */
const LINGER_MS = 5_000;
/** `OK`, a space and a number. */
const LONGEST_ANSWER = 32;
/** The other side has closed what it had not read. */
const HUNG_UP = ['ECONNRESET', 'EPIPE'];

/** What that program connects to when the guest calls its host, given the path of its own socket. */
export function callSocket(path: string): string {
  return `${path}_${CALL_PORT}`;
}

/**
 * Takes a connection to that program over, whatever becomes of it. Whoever gives up does not hang up before the answer: vhost-device-vsock 0.3.0 breaks down when it answers somebody who has gone, and is busy for ever with
 * whoever goes before it has read what he wants.
 */
export function askForPort(socket: Socket, port: VsockPort, signal: AbortSignal): AskedFor {
  const answer = readAnswer(socket);
  socket.write(`CONNECT ${VSOCK_PORTS[port]}\n`);
  const connected = unlessAborted(answer, signal).then(
    () => socket,
    (error: unknown) => {
      void hangUp(socket, answer);
      throw error;
    },
  );
  return { connected, answered: answer.catch(() => {}) };
}

async function hangUp(socket: Socket, answer: Promise<void>): Promise<void> {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  await answer.catch(() => {});
  clearTimeout(cut);
  socket.destroy();
}

/** Resolves when the next byte is the guest's. */
function readAnswer(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const settle = (error?: Error) => {
      socket.off('readable', take).off('close', onClose).off('error', onError);
      // What follows is `close`.
      socket.on('error', () => {});
      if (error === undefined) resolve();
      else reject(error);
    };
    const onClose = () => settle(notListening());
    const onError = (error: NodeJS.ErrnoException) => settle(HUNG_UP.includes(error.code ?? '') ? notListening() : error);
    const take = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      read = Buffer.concat([read, chunk]);
      const answer = /^OK \d+\n/.exec(read.toString('latin1', 0, LONGEST_ANSWER));
      if (answer !== null) {
        socket.off('readable', take);
        socket.unshift(read.subarray(answer[0].length));
        settle();
      } else if (read.includes('\n') || read.length >= LONGEST_ANSWER) settle(misunderstood(read));
    };
    socket.on('readable', take).on('close', onClose).on('error', onError);
  });
}

async function unlessAborted(answer: Promise<void>, signal: AbortSignal): Promise<void> {
  let giveUp = () => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function notListening(): WaitingError {
  return new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
}

function misunderstood(answer: Buffer): AgentisoError {
  return new AgentisoError('IoError', `vsock: not an answer: ${JSON.stringify(answer.toString('latin1', 0, LONGEST_ANSWER))}`);
}
