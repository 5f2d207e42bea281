/** An agent as far as packets go: listens, connects and answers, in whatever network namespace it was started. */
import { createSocket } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
import { serveCalls } from './network-lines.ts';

const TIMEOUT_MS = 2_000;
const held = new Map<number, { socket: Socket; echoed: number; end: string }>();
const accepted: { end: string }[] = [];
const udpSockets: ReturnType<typeof createSocket>[] = [];

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}

serveCalls({
  /** Echoes on a TCP port of all addresses. */
  listen: (port: number, host = '0.0.0.0') =>
    new Promise<void>((resolve, reject) => {
      const server = createServer((socket) => {
        const entry = { end: '' };
        accepted.push(entry);
        socket.on('error', (error) => {
          entry.end = codeOf(error);
        });
        socket.pipe(socket);
      });
      server.on('error', reject).listen(port, host, resolve);
    }),

  /** 'open' after a byte came back, the error's code, or 'silence'. */
  connect: (host: string, port: number, localAddress?: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
      const done = (result: string): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve(result);
      };
      const timer = setTimeout(() => done('silence'), TIMEOUT_MS);
      socket.on('error', (error) => done(codeOf(error)));
      socket.on('connect', () => socket.write('x'));
      socket.on('data', () => done('open'));
    }),

  /** Opens a connection and keeps it; the number names it. */
  hold: (host: string, port: number) =>
    new Promise<number>((resolve, reject) => {
      const key = held.size + 1;
      const entry = { socket: connect({ host, port }), echoed: 0, end: '' };
      entry.socket.on('error', (error) => {
        entry.end = codeOf(error);
        reject(error);
      });
      entry.socket.on('data', (data) => {
        entry.echoed += data.length;
        resolve(key);
      });
      entry.socket.on('connect', () => entry.socket.write('x'));
      held.set(key, entry);
    }),

  /** Sends a byte on a held connection and tells what came back so far, and how it ended. */
  poke: (key: number) => {
    const entry = held.get(key);
    if (entry?.end === '') entry.socket.write('x');
    return { echoed: entry?.echoed, end: entry?.end };
  },

  /** How the connections this side has accepted have ended. */
  accepted: () => accepted.map(({ end }) => end),

  udpEcho: (port: number) =>
    new Promise<void>((resolve) => {
      const socket = createSocket('udp4');
      socket.on('message', (message, from) => socket.send(message, from.port, from.address));
      socket.bind(port, () => resolve());
    }),

  /** A socket that stays: the same flow every time. */
  udpOpen: () =>
    new Promise<number>((resolve) => {
      const socket = createSocket('udp4');
      socket.on('error', () => {});
      socket.bind(0, () => resolve(udpSockets.push(socket) - 1));
    }),

  /** 'open' when the datagram comes back. */
  udpSend: (key: number, host: string, port: number) =>
    new Promise<string>((resolve) => {
      const socket = udpSockets[key];
      const done = (result: string): void => {
        clearTimeout(timer);
        socket?.removeAllListeners('message');
        resolve(result);
      };
      const timer = setTimeout(() => done('silence'), 500);
      socket?.on('message', () => done('open'));
      socket?.send('x', port, host);
    }),
});
