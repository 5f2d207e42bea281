/** Sessions against guests that are real channels on real sockets, and that come and go. */

import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { Channel } from '#protocol/channel.ts';
import { common, GENERATION } from '#protocol/common.ts';
import { encodeFrame } from '#protocol/framing.ts';
import { type RelayToHost, relayToGuest, relayToHost } from '#protocol/relay.ts';
import { answering } from '../../test/support/relay-desk.ts';
import { createSessions, type RelayDesk } from './create-sessions.ts';
import type { Sessions } from './sessions.ts';

const ID = 'uid-1';
const INCARNATION = 'run-1';
const WAIT = { timeout: 10_000, interval: 10 };
const BEAT = { load: 0.5, runningTasks: [], freeSlots: 4, pendingResults: 0, uptimeMs: 1, storedSeq: 0 };

let folder: string;
let sessions: Sessions;
let desk: RelayDesk;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentiso-sessions-'));
  desk = answering({ teamMessage: vi.fn(async () => ({ message_id: 'm-1', state: 'Accepted' as const })) });
  sessions = createSessions({ dial, desk, version: '9.9.9' });
});

afterEach(async () => {
  sessions.closeAll();
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A desk that answers what the test gives, and everything else with NotFound. */

async function dial(_id: string, port: string): Promise<Socket> {
  const socket = connect(join(folder, port));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

interface Guest {
  readonly relay: () => Channel<RelayToHost>;
  readonly hints: number[];
  hangUp(): void;
}

/** Listens on both ports until the test ends. */
async function startGuest({ generation = GENERATION, id = ID } = {}): Promise<Guest> {
  const hello = async () => ({ version: '1.2.3', generation, id, incarnation: INCARNATION });
  const ping = async () => ({ version: '1.2.3', generation, uptimeMs: 1 });
  const hints: number[] = [];
  let relay: Channel<RelayToHost> | undefined;
  await listen('control', (socket) => {
    new Channel(socket, { outgoing: {}, incoming: common, handlers: { hello, ping } });
  });
  await listen('relay', (socket) => {
    relay = new Channel(socket, {
      outgoing: relayToHost,
      incoming: relayToGuest,
      handlers: {
        hello,
        ping,
        messageHint: async ({ nextSeq }) => {
          hints.push(nextSeq);
          return {};
        },
      },
    });
  });
  return {
    hints,
    relay: () => relay as Channel<RelayToHost>,
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(port: string, serve: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => {
    sockets.add(socket);
    serve(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(join(folder, port), resolve));
}

const connected = () =>
  vi.waitFor(() => expect(sessions.get(ID)?.state).toMatchObject({ isControlOpen: true, isRelayOpen: true, version: '1.2.3' }), WAIT);

describe('a session', () => {
  it('opens both connections, says so, and lets calls through', async () => {
    await startGuest();
    const changes: string[] = [];
    sessions.onChange((id) => changes.push(id));
    const session = sessions.ensure(ID, INCARNATION);
    await connected();
    expect(changes).toContain(ID);
    expect(await session.call('ping', {})).toMatchObject({ version: '1.2.3' });
    expect(sessions.ensure(ID, INCARNATION)).toBe(session);
  });

  it('says that the guest cannot be asked, and why, until there is one', async () => {
    const session = sessions.ensure(ID, INCARNATION);
    await expect(session.call('ping', {})).rejects.toMatchObject({ code: 'Unavailable', reason: 'GuestDisconnected' });
    await vi.waitFor(() => expect(session.state.problem).toMatch(/ENOENT/), WAIT);
    await startGuest();
    await connected();
  });

  it('comes back by itself after a lost connection', async () => {
    const guest = await startGuest();
    const session = sessions.ensure(ID, INCARNATION);
    await connected();
    guest.hangUp();
    await vi.waitFor(() => expect(session.state.isControlOpen).toBe(false), WAIT);
    expect(session.state.problem).toBeDefined();
    await connected();
  });

  it('knows from the error that a guest of another generation stays one', async () => {
    await startGuest({ generation: GENERATION + 1 });
    const session = sessions.ensure(ID, INCARNATION);
    await vi.waitFor(() => expect(session.state.error).toBeInstanceOf(StalledError), WAIT);
    expect(session.state).toMatchObject({ isControlOpen: false, problem: expect.stringContaining(`generation ${GENERATION + 1}`) });
  });

  it('keeps the last heartbeat, and reports one that says something new', async () => {
    const guest = await startGuest();
    const session = sessions.ensure(ID, INCARNATION);
    await connected();
    const beganMs = session.state.lastHeartbeatMs;
    const changes: string[] = [];
    sessions.onChange((id) => changes.push(id));
    await guest.relay().call('heartbeat', BEAT);
    expect(session.state).toMatchObject({ heartbeat: BEAT });
    expect(session.state.lastHeartbeatMs).toBeGreaterThan(beganMs);
    await guest.relay().call('heartbeat', { ...BEAT, uptimeMs: 2 });
    expect(changes).toEqual([ID]);
    await guest.relay().call('heartbeat', { ...BEAT, pendingResults: 1 });
    expect(changes).toEqual([ID, ID]);
  });

  it('takes a heartbeat that comes with the answer to hello', async () => {
    const hello = { version: '1.2.3', generation: GENERATION, id: ID, incarnation: INCARNATION };
    await listen('control', (socket) => void new Channel(socket, { outgoing: {}, incoming: {}, handlers: {} }));
    await listen('relay', (socket) => {
      socket.once('data', () => {
        socket.write(
          Buffer.concat(
            [
              { id: 1, result: hello },
              { id: 1, type: 'heartbeat', params: BEAT },
            ].map(encodeFrame),
          ),
        );
      });
    });
    const session = sessions.ensure(ID, INCARNATION);
    await vi.waitFor(() => expect(session.state).toMatchObject({ isRelayOpen: true, heartbeat: BEAT }), WAIT);
  });

  it('asks the desk as the agent of this connection, and hands refusals back with their code', async () => {
    const guest = await startGuest();
    sessions.ensure(ID, INCARNATION);
    await connected();
    const params = { to: 'lead', content: 'hello', from: 'somebody-else' };
    expect(await guest.relay().call('teamMessage', params)).toEqual({ message_id: 'm-1', state: 'Accepted' });
    expect(desk.teamMessage).toHaveBeenCalledWith(ID, params, expect.objectContaining({ signal: expect.any(AbortSignal) }));
    vi.mocked(desk.teamMessage).mockRejectedValueOnce(new AgentisoError('InboxFull', 'the inbox of lead is full'));
    await expect(guest.relay().call('teamMessage', params)).rejects.toMatchObject({ code: 'InboxFull' });
  });

  it('passes hints on, and drops them without a word while there is no connection', async () => {
    const session = sessions.ensure(ID, INCARNATION);
    session.hint(1);
    const guest = await startGuest();
    await connected();
    session.hint(7);
    await vi.waitFor(() => expect(guest.hints).toEqual([7]), WAIT);
  });

  it('of an older incarnation ends when the next one begins', async () => {
    await startGuest();
    const first = sessions.ensure(ID, INCARNATION);
    await connected();
    const second = sessions.ensure(ID, 'run-2');
    expect(sessions.get(ID)).toBe(second);
    await vi.waitFor(() => expect(first.state.isControlOpen).toBe(false), WAIT);
    await expect(first.call('ping', {})).rejects.toMatchObject({ code: 'Unavailable' });
  });

  it('does not take another workspace for its own', async () => {
    await startGuest({ id: 'uid-2' });
    const session = sessions.ensure(ID, INCARNATION);
    await vi.waitFor(() => expect(session.state.problem).toMatch(/uid-2/), WAIT);
    expect(session.state.isControlOpen).toBe(false);
  });
});
