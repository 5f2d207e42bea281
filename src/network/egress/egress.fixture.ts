/** A proxy on a socket in a folder of its own, servers on loopback that stand for the internet, and a client that speaks bytes. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { createEgress, type Egress, type EgressOptions } from './create-egress.ts';
import { connectByAddress } from './dial.ts';

/** A public address that nobody here is connected to for real. */
export const PUBLIC = '93.184.216.34';

export interface Internet {
  readonly names: Map<string, readonly string[]>;
  /** `address:port` to a port on loopback. */
  readonly servers: Map<string, number>;
  readonly resolved: string[];
  readonly connected: string[];
}

export interface ProxyHome {
  readonly egress: Egress;
  readonly internet: Internet;
  readonly refused: string[];
  readonly socketPath: string;
  pass(ms: number): void;
}

export function proxyHome(limits: NonNullable<EgressOptions['limits']> = {}): ProxyHome {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-egress-'));
  mkdirSync(join(folder, 'run'));
  const internet: Internet = { names: new Map(), servers: new Map(), resolved: [], connected: [] };
  const refused: string[] = [];
  let nowMs = 0;
  const egress = createEgress({
    log: silentLogger,
    onRefused: (agentId, name) => refused.push(`${agentId} ${name}`),
    limits,
    nowMs: () => nowMs,
    resolve: async (name) => {
      internet.resolved.push(name);
      const addresses = internet.names.get(name);
      if (!addresses) throw Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' });
      return addresses;
    },
    connect: async (address, port, signal) => {
      internet.connected.push(`${address}:${port}`);
      const local = internet.servers.get(`${address}:${port}`);
      if (local === undefined) throw new Error(`connect ECONNREFUSED ${address}:${port}`);
      return connectByAddress('127.0.0.1', local, signal);
    },
  });
  onTestFinished(async () => {
    await egress.closeAll();
    rmSync(folder, { recursive: true });
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { egress, internet, refused, socketPath: join(folder, 'run', 'egress.sock'), pass };
}

/** A TCP server on loopback; gives its port. */
export async function server(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => listener.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (listener.address() as AddressInfo).port;
}

export interface Client {
  readonly socket: Socket;
  text(): string;
  /** Resolves when the text fits; rejects when the connection ends before. */
  until(fits: RegExp): Promise<string>;
  readonly closed: Promise<string>;
}

export async function client(target: string | number): Promise<Client> {
  const socket =
    typeof target === 'string'
      ? connect({ path: target, allowHalfOpen: true })
      : connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  const closed = new Promise<string>((resolve) => {
    socket.once('end', () => resolve(text)).once('close', () => resolve(text));
  });
  const until = (fits: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!fits.test(text)) return;
        socket.off('data', look);
        resolve(text);
      };
      socket.on('data', look);
      look();
      void closed.then(() => reject(new Error(`the connection ended after ${JSON.stringify(text)}`)));
    });
  return { socket, text: () => text, until, closed };
}

/** Sends it all, and gives all that comes back. */
export async function ask(target: string | number, text: string): Promise<string> {
  const { socket, closed } = await client(target);
  socket.write(text, 'latin1');
  return closed;
}

export async function tunnel(socketPath: string, authority: string): Promise<Client> {
  const opened = await client(socketPath);
  opened.socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  await opened.until(/\r\n\r\n/);
  return opened;
}

export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
export const reasonOf = (answer: string) => /^x-agentiso-reason: (.*)\r$/im.exec(answer)?.[1];
