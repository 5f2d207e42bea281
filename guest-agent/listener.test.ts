import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Listener } from './listener.ts';

let directory: string;
let path: string;
let problems: string[];
let served: Socket[];
let opened: Listener[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-listener-'));
  path = join(directory, 'control.sock');
  problems = [];
  served = [];
  opened = [];
});

afterEach(async () => {
  for (const socket of served) socket.destroy();
  for (const listener of opened) listener.close();
  await rm(directory, { recursive: true, force: true });
});

async function open(server = createServer()): Promise<Listener> {
  const listener = await Listener.open({
    server,
    path,
    serve: (socket) => served.push(socket),
    report: (problem) => problems.push(problem),
  });
  opened.push(listener);
  return listener;
}

async function dial(): Promise<Socket> {
  const socket = connect(path);
  await once(socket, 'connect');
  socket.resume();
  return socket;
}

describe('Listener', () => {
  it('takes over a socket that was left behind, and the older one knows', async () => {
    const first = await open();
    expect(first.isInPlace).toBe(true);
    const second = await open();
    expect(first.isInPlace).toBe(false);
    first.close();
    expect(second.isInPlace).toBe(true);
    (await dial()).destroy();
  });

  it('knows when its directory is gone', async () => {
    const listener = await open();
    await rm(directory, { recursive: true });
    expect(listener.isInPlace).toBe(false);
  });

  it('counts the connections that are open', async () => {
    const listener = await open();
    const socket = await dial();
    await vi.waitFor(() => expect(listener.connections).toBe(1));
    served[0]?.on('error', () => {});
    served[0]?.resume();
    socket.destroy();
    await vi.waitFor(() => expect(listener.connections).toBe(0));
  });

  it('pauses when connections cannot be accepted and then listens again, without losing those it has', async () => {
    const server = createServer();
    const listener = await open(server);
    const before = await dial();
    await vi.waitFor(() => expect(listener.connections).toBe(1));
    server.emit('error', new Error('accept EMFILE'));
    expect(problems[0]).toContain('accept EMFILE');
    // A pause is not the end of the run directory.
    expect(listener.isInPlace).toBe(true);
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await vi.waitFor(dial);
    served[0]?.write('still open');
    expect(String((await once(before, 'data'))[0])).toBe('still open');
  });

  it('is no longer in place when it cannot listen again', async () => {
    const server = createServer();
    const listener = await open(server);
    await rm(directory, { recursive: true });
    server.emit('error', new Error('accept EMFILE'));
    await vi.waitFor(() => expect(listener.isInPlace).toBe(false));
    expect(problems.length).toBeGreaterThan(1);
  });
});
