import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import { control as controlMethods } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type RelayToHostHandlers, relayToGuest, relayToHost } from '#protocol/relay.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { GUEST_ID, greetedControl, isPidAlive, openControl, type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';
import { GUEST_VERSION } from './version.ts';

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

/** Starts a command that would run for long; gives the pids of the shell and its child. */
async function startLongCommand(): Promise<number[]> {
  guest.client.call('exec', { command: 'sleep 1000 & echo $$ $! > pids; wait', timeoutMs: 60_000 }).catch(() => {});
  return vi.waitFor(async () => {
    const text = await readFile(join(guest.workspace, 'pids'), 'utf8');
    expect(text).toMatch(/\n$/);
    return text.trim().split(' ').map(Number);
  }, 10_000);
}

const gone = (pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), 10_000);

const quietHost = {
  ping: async () => ({ version: 'host', generation: GENERATION, uptimeMs: 0 }),
  heartbeat: async () => ({}),
  teamReceive: async () => ({ messages: [], nextSeq: 1 }),
} as Partial<RelayToHostHandlers> as RelayToHostHandlers;

function openRelay(): Channel<typeof relayToGuest, typeof relayToHost> {
  return new Channel(connect(guest.relayPath), { outgoing: relayToGuest, incoming: relayToHost, handlers: quietHost });
}

describe('the guest agent', () => {
  beforeEach(async () => {
    guest = await startGuestProcess(bundle.path);
  });
  afterEach(() => guest.stop());

  it('greets and answers a ping on both ports', async () => {
    const pong = { version: GUEST_VERSION, generation: GENERATION, uptimeMs: expect.any(Number) };
    expect(await guest.client.call('ping', {})).toEqual(pong);
    const relay = openRelay();
    const hello = { generation: GENERATION, ...GUEST_ID };
    expect(await relay.call('hello', hello)).toEqual({ version: GUEST_VERSION, ...hello });
    expect(await relay.call('ping', {})).toEqual(pong);
  });

  it('listens where only its own user can connect', async () => {
    for (const path of [guest.controlPath, guest.relayPath]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('closes a connection whose first request is not hello', async () => {
    const channel = openControl(guest.controlPath);
    await expect(channel.call('ping', {})).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await channel.closed).toMatchObject({ code: 'Forbidden', message: expect.stringContaining('hello must come before ping') });
    const relay = openRelay();
    await expect(relay.call('messageHint', { nextSeq: 1 })).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await relay.closed).toMatchObject({ code: 'Forbidden' });
  });

  it.each([
    { name: 'id', identity: { ...GUEST_ID, id: 'another' } },
    { name: 'incarnation', identity: { ...GUEST_ID, incarnation: 'another' } },
  ])('refuses a host that means another $name', async ({ identity }) => {
    await expect(greetedControl(guest.controlPath, identity)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(openRelay().call('hello', { generation: GENERATION, ...identity })).rejects.toMatchObject({ code: 'Conflict' });
    await guest.client.call('ping', {});
  });

  it('names the right port for a method of the other one', async () => {
    const both = { ...relayToGuest, ...relayToHost };
    const control = new Channel(connect(guest.controlPath), { outgoing: both });
    await control.call('hello', { generation: GENERATION, ...GUEST_ID });
    const wrong = { code: 'Invalid', message: 'messageHint belongs to the relay connection, port 5001' };
    await expect(control.call('messageHint', { nextSeq: 1 })).rejects.toMatchObject(wrong);
    const relay = new Channel(connect(guest.relayPath), { outgoing: controlMethods, incoming: relayToHost, handlers: quietHost });
    await relay.call('hello', { generation: GENERATION, ...GUEST_ID });
    const other = { code: 'Invalid', message: 'exec belongs to the control connection, port 5000' };
    await expect(relay.call('exec', { command: 'true', timeoutMs: 1000 })).rejects.toMatchObject(other);
  });

  it('survives a connection that sends rubbish', async () => {
    const socket = connect(guest.controlPath);
    socket.end('GET / HTTP/1.1\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    await guest.client.call('ping', {});
  });

  it('takes 64 connections and tells the next one why not', async () => {
    const others = await Promise.all(Array.from({ length: 63 }, () => guest.connectAgain()));
    const refused = openControl(guest.controlPath);
    expect(await refused.closed).toMatchObject({ code: 'Unavailable', message: expect.stringContaining('more than 64 connections') });
    await others[62]?.call('ping', {});
  });

  it('will not be bound again', async () => {
    const call = guest.client.call('bind', { id: 'x', incarnation: 'y', hostname: 'z' });
    await expect(call).rejects.toMatchObject({ code: 'Conflict' });
    await guest.client.call('ping', {});
  });

  it('acknowledges shutdown, ends what is running and exits', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    expect(await guest.client.call('shutdown', {})).toEqual({});
    expect(await exited).toEqual([0, null]);
    await gone(pids);
    expect(await readFile(join(guest.stateDir, 'log', 'agent.log'), 'utf8')).toContain(' guest stopping: shutdown asked by the host\n');
  });

  it('kills what ignores SIGTERM when the grace of a shutdown is over', async () => {
    const command = 'trap "" TERM; echo $$ > stubborn; while :; do sleep 1; done';
    guest.client.call('exec', { command, timeoutMs: 60_000 }).catch(() => {});
    const pid = await vi.waitFor(async () => {
      const text = await readFile(join(guest.workspace, 'stubborn'), 'utf8');
      expect(text).toMatch(/\n$/);
      return Number(text);
    }, 10_000);
    const exited = once(guest.child, 'exit');
    await guest.client.call('shutdown', { graceMs: 10 });
    expect(await exited).toEqual([0, null]);
    await gone([pid]);
  });

  it('does the same on SIGTERM, and takes its sockets with it', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    guest.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    await gone(pids);
    await expect(stat(guest.controlPath)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('goes on when its output is no longer read and nobody is connected', async () => {
    const { closed } = guest.client;
    guest.child.stdout?.destroy();
    guest.child.stderr?.destroy();
    guest.client.close(new ProtocolError('Unavailable', 'the daemon ends'));
    await closed;
    const again = await guest.connectAgain();
    expect(await again.call('exec', { command: 'echo still here', timeoutMs: 10_000 })).toMatchObject({ stdout: 'still here\n' });
  });

  it('ends when its run directory is moved away', async () => {
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    await rename(guest.runDir, `${guest.runDir}-gone`);
    expect(await exited).toEqual([0, null]);
    expect(guest.stderr()).toContain('its run directory is gone');
    await gone(pids);
  });

  it('ends when another guest takes its place', async () => {
    const exited = once(guest.child, 'exit');
    const second = await startGuestProcess(bundle.path, { directory: guest.directory });
    expect(await exited).toEqual([0, null]);
    expect(await second.client.call('ping', {})).toMatchObject({ version: GUEST_VERSION });
    await second.stop();
  });
});

describe('a member of the warm pool', () => {
  beforeEach(async () => {
    guest = await startGuestProcess(bundle.path, { pool: true });
  });
  afterEach(() => guest.stop());

  const identity = { id: 'bound', incarnation: 'first' };

  it('takes nothing but bind, on either port', async () => {
    const hello = { generation: GENERATION, ...identity };
    const [control, relay] = [openControl(guest.controlPath), openRelay()];
    await expect(control.call('hello', hello)).rejects.toMatchObject({ code: 'Unavailable' });
    await expect(relay.call('hello', hello)).rejects.toMatchObject({ code: 'Unavailable' });
    for (const { closed } of [control, relay]) {
      expect(await closed).toMatchObject({ code: 'Forbidden', message: expect.stringContaining('bind must come before hello') });
    }
    await expect(stat(join(guest.stateDir, 'log'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is a guest like any other once it is bound, on the same connection', async () => {
    await guest.client.call('bind', { ...identity, hostname: 'builder-0' });
    await expect(guest.client.call('exec', { command: 'true', timeoutMs: 1000 })).rejects.toMatchObject({ code: 'Unavailable' });
    const client = await greetedControl(guest.controlPath, identity);
    const { stdout } = await client.call('exec', { command: 'echo $HOSTNAME; pwd', timeoutMs: 10_000 });
    expect(stdout).toBe(`builder-0\n${guest.workspace}\n`);
    await expect(greetedControl(guest.controlPath, GUEST_ID)).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('goes from bind to hello to work on one connection', async () => {
    await guest.client.call('bind', { ...identity, hostname: 'builder-0' });
    await guest.client.call('hello', { generation: GENERATION, ...identity });
    expect(await guest.client.call('exec', { command: 'echo hi', timeoutMs: 10_000 })).toMatchObject({ stdout: 'hi\n' });
    await expect(guest.client.call('bind', { ...identity, hostname: 'x' })).rejects.toMatchObject({ code: 'Conflict' });
  });
});

describe('a guest that fails', () => {
  it('writes why to its crash log and ends what is running', async () => {
    const thrower = join(dirname(bundle.path), 'thrower.cjs');
    await writeFile(thrower, "process.once('SIGUSR2', () => setImmediate(() => { throw new Error('planted failure'); }));");
    guest = await startGuestProcess(bundle.path, { nodeArgs: ['--require', thrower] });
    const pids = await startLongCommand();
    const exited = once(guest.child, 'exit');
    guest.child.kill('SIGUSR2');
    expect(await exited).toEqual([1, null]);
    expect(await readFile(join(guest.stateDir, 'crash.log'), 'utf8')).toMatch(/^\d{4}-.*Z Error: planted failure\n {4}at /);
    expect(guest.stderr()).toContain('planted failure');
    await gone(pids);
    await guest.stop().catch(() => {});
  });

  it.each([
    { name: 'an id', args: ['--run', '/r', '--state', '/s', '--workspace', '/w'], want: '--id is required' },
    { name: 'a run directory', args: ['--pool', '--state', '/s', '--workspace', '/w'], want: '--run is required' },
    { name: 'a known option', args: ['--pool', '--socket', '/s'], want: '--socket is no option: --id,' },
  ])('says what is missing on its command line: $name', async ({ args, want }) => {
    const child = spawn(process.execPath, [bundle.path, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [[text], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
    expect(String(text)).toContain(want);
    expect(code).toBe(1);
  });

  it('ends where its state was taken away under it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'taken-away-'));
    // As in a sandbox, which sees the folder by a mount: the place is there, and nothing can be made in it.
    const script =
      'cd "$1" && mkdir run state mounted work && mount --bind state mounted && rmdir state || exit 99; shift; exec "$@" --state "$PWD/mounted" --run "$PWD/run" --workspace "$PWD/work"';
    const command = [process.execPath, bundle.path, '--id', 'a', '--incarnation', 'b'];
    const apart = ['--user', '--map-root-user', '--mount', '--', '/bin/sh', '-c', script, 'sh', folder, ...command];
    const child = spawn('unshare', apart, { stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      const text = child.stderr.setEncoding('utf8').toArray();
      expect(await once(child, 'exit')).toEqual([1, null]);
      expect((await text).join('')).toMatch(/ENOENT: no such file or directory, mkdir '.*\/mounted\/log'/);
    } finally {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });
});
