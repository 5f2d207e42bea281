/** Connects and accepts in the network namespace it was started in. connect(2) itself is timed: Node's own part would hide the rules. */
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { serveCalls } from '../../support/network-lines.ts';
import { median } from '../harness/stats.ts';

const AF_INET = 2;
const SOCK_STREAM = 1;

const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
const library = koffi.load(null);
const calls = {
  socket: library.func('int socket(int, int, int)') as (family: number, type: number, protocol: number) => number,
  connect: library.func('int connect(int, const void *, unsigned int)') as (fd: number, address: Buffer, length: number) => number,
  close: library.func('int close(int)') as (fd: number) => number,
};

serveCalls({
  listen: (port: number) =>
    new Promise<void>((resolve) => {
      createServer((socket) => socket.on('error', () => {}).destroy()).listen(port, '0.0.0.0', () => resolve());
    }),
  /** Median of `count` connections in a row, in ms. */
  connects(host: string, port: number, count: number) {
    const address = Buffer.alloc(16);
    address.writeUInt16LE(AF_INET, 0);
    address.writeUInt16BE(port, 2);
    address.set(host.split('.').map(Number), 4);
    return median(Array.from({ length: count }, () => timeConnect(address)));
  },
});

function timeConnect(address: Buffer): number {
  const fd = calls.socket(AF_INET, SOCK_STREAM, 0);
  const start = process.hrtime.bigint();
  const result = calls.connect(fd, address, address.length);
  const elapsed = process.hrtime.bigint() - start;
  calls.close(fd);
  if (result !== 0) throw new Error('a connection that the rules allow was refused');
  return Number(elapsed) / 1e6;
}
