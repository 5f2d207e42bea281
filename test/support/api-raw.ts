/** Bytes to a TLS port and whatever comes back, for requests that no HTTP client would send. */
import { connect, type TLSSocket } from 'node:tls';
import type { Server } from './daemon.ts';

export interface RawConnection {
  readonly socket: TLSSocket;
  send(text: string | Buffer): void;
  /** Everything received so far. */
  received(): string;
  /** Resolves with all that came, once it contains this or the other side has ended. */
  until(text: string): Promise<string>;
  /** Resolves with all that came when the connection is over, however it ended. */
  readonly closed: Promise<string>;
}

export function rawConnection({ host, port, ca }: Server): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ca, servername: '' });
    const chunks: string[] = [];
    const listeners = new Set<() => void>();
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      chunks.push(chunk);
      for (const listener of listeners) listener();
    });
    const received = () => chunks.join('');
    const closed = new Promise<string>((over) => {
      socket.on('close', () => over(received()));
    });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      // From now on an abrupt end is an answer like any other.
      socket.off('error', reject).on('error', () => {});
      resolve({
        socket,
        send: (bytes) => void socket.write(bytes, 'latin1'),
        received,
        until: (part) =>
          new Promise((found) => {
            // Looks at what is new only, and at what was before as far as a match could begin there: answers may be long.
            let tail = received();
            let seen = chunks.length;
            const look = () => {
              tail = tail.slice(-part.length) + chunks.slice(seen).join('');
              seen = chunks.length;
              if (tail.includes(part)) found(received());
            };
            if (tail.includes(part)) found(tail);
            listeners.add(look);
            void closed.then(found);
          }),
        closed,
      });
    });
  });
}

/** The status lines of all answers in what came back. */
export function answersIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, code]) => Number(code));
}
