import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectGuest } from '#guest/client.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/messages.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { GUEST_ID, isPidAlive, type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';
import { GUEST_VERSION } from './version.ts';

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

beforeEach(async () => {
  guest = await startGuestProcess(bundle.path);
});

afterEach(() => guest.stop());

/** Starts a command that would run for long; gives the pids of the shell and its child. */
async function startLongCommand(): Promise<number[]> {
  guest.client.call('exec', { command: 'sleep 1000 & echo $$ $! > pids; wait', timeoutMs: 60_000 }).catch(() => {});
  return vi.waitFor(async () => {
    const text = await readFile(join(guest.workspace, 'pids'), 'utf8');
    expect(text).toMatch(/\n$/);
    return text.trim().split(' ').map(Number);
  }, 10_000);
}

describe('the guest agent', () => {
  it('greets and answers a ping', async () => {
    expect(guest.client.version).toBe(GUEST_VERSION);
    expect(await guest.client.call('ping', {})).toEqual({ version: GUEST_VERSION, generation: GENERATION, uptimeMs: expect.any(Number) });
  });

  it('listens where only its own user can connect', async () => {
    expect((await stat(guest.socketPath)).mode & 0o777).toBe(0o600);
  });

  it('closes a connection whose first request is not hello', async () => {
    const channel = new Channel(connect(guest.socketPath));
    await expect(channel.call('ping', {})).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await channel.closed).toMatchObject({ code: 'Forbidden', message: expect.stringContaining('hello must come before ping') });
  });

  it.each([
    { name: 'id', identity: { ...GUEST_ID, id: 'another' } },
    { name: 'incarnation', identity: { ...GUEST_ID, incarnation: 'another' } },
  ])('refuses a host that means another $name', async ({ identity }) => {
    await expect(connectGuest(connect(guest.socketPath), identity)).rejects.toMatchObject({ code: 'Conflict' });
    await guest.client.call('ping', {});
  });

  it('survives a connection that sends rubbish', async () => {
    const socket = connect(guest.socketPath);
    socket.end('GET / HTTP/1.1\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    await guest.client.call('ping', {});
  });

  it('acknowledges shutdown, ends what is running and exits', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    expect(await guest.client.call('shutdown', {})).toEqual({});
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);
  });

  it('does the same on SIGTERM', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    guest.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);
  });

  it('does the same when the host lets go of its stdin', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    guest.child.stdin?.destroy();
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);
  });

  it('says what is missing on its command line', async () => {
    const child = spawn(process.execPath, [bundle.path, '--id', 'x'], { stdio: ['pipe', 'ignore', 'pipe'] });
    const [[text], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
    expect(String(text)).toContain('--socket is required');
    expect(code).toBe(1);
  });
});
