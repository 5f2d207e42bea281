/** A plain connection as the carrier of a SPDY session. */
import type { Duplex } from 'node:stream';
import { drained } from '#lib/drained.ts';
import type { Carrier } from '../spdy/session.ts';

export function socketCarrier(socket: Duplex, head: Buffer): Carrier {
  if (head.length > 0) socket.unshift(head);
  socket.on('error', () => {});
  return {
    chunks: () => socket as AsyncIterable<Buffer>,
    send(...parts) {
      if (!socket.writable) return true;
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
      return !socket.writableNeedDrain;
    },
    drained: () => drained(socket),
    close: () => void socket.end(() => socket.destroy()),
  };
}
