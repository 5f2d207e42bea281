/**
 * Lines of a watch onto the wire. An event goes to many connections: its chunk is framed once, and each connection gets the same bytes
 * in one piece instead of a head, a body and a tail of its own.
 */
import type { ServerResponse } from 'node:http';
import type { Sink } from './watch-stream.ts';

/** The headers must be on their way already. A client too old for chunks gets plain lines until the connection ends. */
export function chunkedSink(response: ServerResponse): Sink {
  const { socket } = response;
  if (!response.chunkedEncoding || !socket) return response;
  return {
    get writableLength() {
      return socket.writableLength;
    },
    write: (line) => socket.write(typeof line === 'string' ? framedText(line) : framed(line)),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
    on(event, listener) {
      if (event !== 'drain') {
        response.on(event, listener);
        return;
      }
      socket.on('drain', listener);
      // The connection may serve other requests afterwards.
      response.on('close', () => socket.off('drain', listener));
    },
  };
}

let last: { line: Buffer; chunk: Buffer } | undefined;

function framed(line: Buffer): Buffer {
  if (last?.line === line) return last.chunk;
  const chunk = Buffer.concat([Buffer.from(`${line.length.toString(16)}\r\n`), line, END]);
  last = { line, chunk };
  return chunk;
}

const END = Buffer.from('\r\n');

function framedText(line: string): string {
  return `${Buffer.byteLength(line).toString(16)}\r\n${line}\r\n`;
}
