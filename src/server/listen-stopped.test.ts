/** What is asked while the process stands still (Ctrl-Z, a debugger, no processor) is answered: its timers come first when it goes on. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { startScript } from '../../test/support/script.ts';

const IDLE_MS = 3_000;
const REQUEST_MS = 3_000;
const LONG_MS = 60_000;
const WAIT = { timeout: 15_000 };
const ASKED = 'GET /a HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n';
const WITH_BODY = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n';

const dial = {
  https: async (_folder: string, port: number) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return socket;
  },
  socket: async (folder: string, _port: number) => {
    const socket = connect(join(folder, 's'));
    await once(socket, 'connect');
    return socket;
  },
} as const;

interface Times {
  readonly idleMs: number;
  readonly requestMs: number;
}

async function openDoor(door: keyof typeof dial, { idleMs, requestMs }: Times, { onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-stopped-'));
  const script = startScript('doors.ts', [folder, String(idleMs), String(requestMs)]);
  const { child } = script;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await script.ended;
    rmSync(folder, { recursive: true });
  });
  const port = Number(await script.line((line) => /^\d+$/.test(line), 'its port'));
  const socket: Socket = await dial[door](folder, port);
  const said = { text: '' };
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    said.text += chunk;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const answered = () => Promise.race([closed, vi.waitFor(() => expect(said.text).toContain('yes'), WAIT)]);
  /** Nothing of it happens while the process runs. */
  const stopped = async (ms: number, meanwhile: () => void) => {
    child.kill('SIGSTOP');
    await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/stat`, 'latin1')).toContain(') T '), WAIT);
    meanwhile();
    // The time itself is what counts here: the process has nothing to say while it stands.
    await delay(ms);
    child.kill('SIGCONT');
  };
  const begun = () => script.line((line) => line === 'begun', 'the head of a request');
  return { folder, socket, said, closed, begun, answered, stopped };
}

// Side by side: they mostly wait.
describe.concurrent.each(['https', 'socket'] as const)('by %s, a process that has stood still for too long', (door) => {
  it('answers on a connection that could be closed as idle, and still closes one on which nobody asks', async (context) => {
    const { socket, said, closed, answered, stopped } = await openDoor(door, { idleMs: IDLE_MS, requestMs: LONG_MS }, context);
    socket.write(ASKED);
    await answered();
    said.text = '';
    await stopped(IDLE_MS + 1_500, () => socket.write(ASKED));
    await answered();
    expect(said.text).toContain('yes');
    await closed;
  }, 60_000);

  it('takes the rest of a request that came meanwhile', async (context) => {
    const { socket, said, begun, answered, stopped } = await openDoor(door, { idleMs: LONG_MS, requestMs: REQUEST_MS }, context);
    socket.write(WITH_BODY);
    await begun();
    await stopped(REQUEST_MS + 500, () => socket.write('body'));
    await answered();
    expect(said.text).toContain('200 OK');
  }, 60_000);

  it('still refuses one that does not come to its end', async (context) => {
    const { socket, said, closed, stopped } = await openDoor(door, { idleMs: LONG_MS, requestMs: REQUEST_MS }, context);
    socket.write(ASKED.slice(0, 20));
    await stopped(REQUEST_MS + 500, () => socket.write(ASKED.slice(20, 30)));
    await closed;
    expect(said.text).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
  }, 60_000);
});

it('a thousand that knock while the process stands still are let in', async (context) => {
  const { folder, stopped } = await openDoor('socket', { idleMs: LONG_MS, requestMs: LONG_MS }, context);
  const refused: unknown[] = [];
  let letIn = 0;
  const sockets: Socket[] = [];
  await stopped(0, () => {
    for (let knock = 0; knock < 1_000; knock += 1) {
      const socket = connect(join(folder, 's'), () => (letIn += 1));
      socket.on('error', (error: NodeJS.ErrnoException) => refused.push(error.code));
      sockets.push(socket);
    }
  });
  await vi.waitFor(() => expect(letIn + refused.length).toBe(1_000), WAIT);
  for (const socket of sockets) socket.destroy();
  expect(refused).toEqual([]);
});
