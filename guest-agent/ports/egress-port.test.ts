import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CarriedEgress, carryEgress } from '#guest/carry-egress.ts';
import { HostPort } from '#guest/host-port.ts';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { startEgress } from '../egress.ts';
import { EgressPort } from './egress-port.ts';
import { PortListener } from './port-listener.ts';

const IDENTITY = { id: 'agent', incarnation: 'first' };
const WAIT = { timeout: 10_000, interval: 10 };

let directory: string;
let pair: SocketPair;
let guest: EgressPort;
let listener: PortListener;
let egress: Server;
let carried: CarriedEgress | undefined;
let proxy: Server | undefined;
let accepted: Socket[];
let dials: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-egress-'));
  pair = await socketPair();
  accepted = [];
  dials = 0;
  guest = new EgressPort(IDENTITY);
  listener = new PortListener({ path: 'agentiso.egress', open: () => pair.far, serve: guest.serve, report: () => {} });
  egress = startEgress({ pass: guest.pass, port: 0, report: () => {} });
  await once(egress, 'listening');
});

afterEach(async () => {
  carried?.close('the test is over');
  listener.close();
  egress.close();
  proxy?.close();
  proxy = undefined;
  pair.destroy();
  await rm(directory, { recursive: true });
});

/** What the daemon has for this agent. */
async function listen(onSocket: (socket: Socket) => void): Promise<void> {
  proxy = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket.on('error', () => {}));
    onSocket(socket);
  });
  proxy.listen(join(directory, 'egress.sock'));
  await once(proxy, 'listening');
}

function startHost(identity = IDENTITY): void {
  const port = new HostPort(pair.near);
  carried = carryEgress({
    ...identity,
    connect: (signal) => {
      dials += 1;
      return port.connect(signal);
    },
    dialProxy: async () => {
      const socket = connect({ path: join(directory, 'egress.sock'), allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    },
  });
}

function program(): Socket {
  return connect({ port: (egress.address() as AddressInfo).port, host: '127.0.0.1' });
}

/** As soon as the host is there. */
const answered = (expected: string) =>
  vi.waitFor(async () => {
    const socket = program().on('error', () => {});
    socket.end('a question');
    expect(await text(socket)).toBe(expected);
  }, WAIT);

describe('the way out of a machine', () => {
  it('carries bytes both ways, each direction to its own end, and many connections beside each other', async () => {
    await listen((socket) => {
      const question: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => question.push(chunk)).on('end', () => socket.end(`answer to ${Buffer.concat(question)}`));
    });
    startHost();
    await answered('answer to a question');
    const sizes = Array.from({ length: 20 }, (_, i) => 300_000 + i);
    const answers = sizes.map((size) => {
      const socket = program();
      socket.end('x'.repeat(size));
      return text(socket);
    });
    expect((await Promise.all(answers)).map(({ length }) => length - 'answer to '.length)).toEqual(sizes);
  });

  it('is closed while no host is there, and for one that means another guest', async () => {
    await listen((socket) => socket.end('not for you'));
    const client = program();
    client.resume();
    await once(client, 'close');
    startHost({ ...IDENTITY, incarnation: 'second' });
    // The first time it was sent away.
    await vi.waitFor(() => expect(dials).toBe(2), WAIT);
    const again = program();
    again.resume();
    await once(again, 'close');
    expect(accepted).toEqual([]);
  });

  it('closes at once where the agent has no proxy, and works when it has one again', async () => {
    startHost();
    const client = program();
    client.resume();
    await once(client, 'close');
    await listen((socket) => socket.resume().end('there'));
    await answered('there');
  });

  it('ends what is open when the program goes away, and when the host does', async () => {
    await listen((socket) => {
      socket.write('x');
      socket.resume();
    });
    startHost();
    const [leaving, staying] = await vi.waitFor(async () => {
      const clients = [program(), program()] as const;
      for (const client of clients) await once(client, 'data', { signal: AbortSignal.timeout(500) });
      return clients;
    }, WAIT);
    const gone = accepted.slice(-2).map((socket) => once(socket, 'end'));
    leaving.resetAndDestroy();
    await Promise.race(gone);
    staying.resume();
    const cut = once(staying, 'close');
    carried?.close('the daemon is stopping');
    await Promise.all([cut, ...gone]);
  });
});
