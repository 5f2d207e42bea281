import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pinnedSocketPath } from '#lib/socket-path.ts';
import { awaitSocket, openSocket } from './link.ts';

const IGNORED = () => {};
let folder: string;
let home: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-link-'));
  // Deeper than the kernel lets a socket be called.
  home = join(folder, 'a'.repeat(60), 'b'.repeat(60));
  mkdirSync(home, { recursive: true });
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(folder, { recursive: true });
});

async function listen() {
  const accepted: Socket[] = [];
  let heard = '';
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (text) => {
        heard += text;
      });
    accepted.push(socket);
  });
  const pinned = pinnedSocketPath(join(home, 'mcp.sock'));
  server.listen(pinned.path);
  await once(server, 'listening');
  ends.push(() => {
    for (const socket of accepted) socket.destroy();
    server.close(() => pinned.release());
  });
  return { heard: () => heard };
}

/** How many folders of this test are held open. */
function openFolders(): number {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one that the listing itself had.
      return '';
    }
  });
  return targets.filter((target) => target.startsWith(folder)).length;
}

describe('openSocket', () => {
  it('reaches a socket in a folder as deep as one likes, and keeps nothing else open', async () => {
    await listen();
    const before = openFolders();
    const socket = await openSocket(home, IGNORED);
    expect(openFolders()).toBe(before);
    socket.destroy();
  });

  it('closes nothing that is not its own when the connection breaks', async () => {
    const { heard } = await listen();
    const socket = await openSocket(home, IGNORED);
    socket.on('error', () => {});
    // One of them has the number that the folder had.
    const others = await Promise.all(Array.from({ length: 5 }, () => openSocket(home, IGNORED)));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.destroy(new Error('reset'));
    await closed;
    for (const other of others) other.write('x');
    await vi.waitFor(() => expect(heard()).toBe('xxxxx'));
    for (const other of others) other.destroy();
  });

  it('says why there is none', async () => {
    await expect(openSocket(home, IGNORED)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(openSocket(join(folder, 'nowhere'), IGNORED)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('awaitSocket', () => {
  it('has one as soon as somebody listens', async () => {
    const socket = awaitSocket(home, IGNORED, new AbortController().signal);
    await listen();
    (await socket)?.destroy();
    expect(await socket).toBeDefined();
  });

  it('gives up with the signal, and keeps nothing open', async () => {
    const ending = new AbortController();
    const socket = awaitSocket(home, IGNORED, ending.signal);
    ending.abort();
    expect(await socket).toBeUndefined();
    expect(openFolders()).toBe(0);
  });
});
