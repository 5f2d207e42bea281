import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { passToSocket, startEgress } from './egress.ts';

let directory: string;
let egress: Server;
let host: Server | undefined;
let port: number;
let problems: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-egress-'));
  problems = [];
  egress = startEgress({ pass: passToSocket(join(directory, 'egress.sock')), port: 0, report: (problem) => problems.push(problem) });
  await once(egress, 'listening');
  port = (egress.address() as AddressInfo).port;
});

afterEach(async () => {
  egress.close();
  host?.close();
  host = undefined;
  await rm(directory, { recursive: true });
});

async function listen(onSocket: (socket: Socket) => void): Promise<void> {
  host = createServer({ allowHalfOpen: true }, onSocket);
  host.listen(join(directory, 'egress.sock'));
  await once(host, 'listening');
}

describe('the way out', () => {
  it('passes bytes on in both directions, each to its own end', async () => {
    await listen((socket) => {
      let question = '';
      socket.on('data', (chunk) => {
        question += String(chunk);
      });
      socket.on('end', () => socket.end(`answer to ${question}`));
    });
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.end('a question');
    expect(await text(client)).toBe('answer to a question');
  });

  it('listens on loopback only', () => {
    expect((egress.address() as AddressInfo).address).toBe('127.0.0.1');
  });

  it('closes at once where the host has no socket, and works when it has one again', async () => {
    const client = connect({ port, host: '127.0.0.1' });
    client.resume();
    await once(client, 'close');
    await listen((socket) => socket.end('there'));
    expect(await text(connect({ port, host: '127.0.0.1' }))).toBe('there');
  });

  it('ends the host side when the program goes away', async () => {
    const closed: Promise<unknown>[] = [];
    await listen((socket) => {
      socket.on('error', () => {});
      socket.resume();
      closed.push(Promise.race([once(socket, 'end'), once(socket, 'close')]));
      socket.write('x');
    });
    const client = connect({ port, host: '127.0.0.1' });
    await once(client, 'data');
    client.resetAndDestroy();
    await closed[0];
  });

  it('reports a port that is taken', async () => {
    const second = startEgress({ pass: passToSocket(join(directory, 'egress.sock')), port, report: (problem) => problems.push(problem) });
    await once(second, 'error');
    expect(problems[0]).toMatch(/^egress: .*EADDRINUSE/);
  });
});
