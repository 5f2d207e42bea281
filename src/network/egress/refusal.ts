/** An answer of the proxy that is not the answer of whoever was asked for. */
import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export class Refusal extends Error {
  readonly status: number;
  /** For programs, in X-Agentiso-Reason. */
  readonly reason: string;

  /** `message` is for people, and in ASCII. */
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = new.target.name;
    this.status = status;
    this.reason = reason;
  }
}

/** Where there is no request that node would answer: a tunnel, or bytes that are no request. */
export function answerRaw(socket: Duplex, { status, reason, message }: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = `agentiso: ${message}\n`;
  const head = Object.entries(headersOf(reason, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  // Bytes left unread would turn the end of the connection into a failure.
  socket.resume();
  // Who never reads it does not keep the connection.
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`, () => socket.destroy());
}

export function answer(response: ServerResponse, { status, reason, message }: Refusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = `agentiso: ${message}\n`;
  response.writeHead(status, headersOf(reason, body)).end(body);
}

function headersOf(reason: string, body: string): Record<string, string> {
  return {
    'X-Agentiso-Reason': reason,
    'Content-Type': 'text/plain',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
}
