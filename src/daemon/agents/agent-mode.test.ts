/** The tools of an agent, called from the daemon: a real guest in its own process behind real sessions. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { connectGuest } from '#guest/client.ts';
import { createSessions } from '#guest/create-sessions.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import { control } from '#protocol/control.ts';
import { CONFIGURATION } from '../../../guest-agent/relay/fake-host.fixture.ts';
import { bundleGuest, type GuestBundle } from '../../../test/support/guest-bundle.ts';
import { answering } from '../../../test/support/relay-desk.ts';
import { GUEST_ID, type RunningGuest, startGuestProcess } from '../../../test/support/running-guest.ts';
import { socketPair } from '../../../test/support/socket-pair.ts';
import { createAgentMode } from './agent-mode.ts';

const soon = { timeout: 10_000, interval: 20 };
const AGENT = { metadata: { name: 'blue-bob', uid: GUEST_ID.id } } as Agent;
const CALLER = { namespace: 'default', team: 'blue', name: 'bob' };

let bundle: GuestBundle;
let guest: RunningGuest;
let sessions: Sessions;
const sent: unknown[] = [];

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
  sessions = createSessions({
    version: 'test',
    dial: async (_id, port) => connect(port === 'control' ? guest.controlPath : guest.relayPath),
    desk: answering({
      teamReceive: async () => ({ messages: [], nextSeq: 1 }),
      teamAck: async () => ({ unknown: [] }),
      teamMessage: async (_id, params) => {
        sent.push(params);
        return { message_id: 'm1', state: 'Accepted' };
      },
    }),
  });
  const session = sessions.ensure(GUEST_ID.id, GUEST_ID.incarnation);
  await vi.waitFor(() => expect(session.state).toMatchObject({ isControlOpen: true, isRelayOpen: true }), soon);
  await session.call('configure', { ...CONFIGURATION, card: { name: 'bob', team: 'blue' } });
}, 60_000);

afterAll(async () => {
  sessions?.closeAll();
  await guest?.stop();
  await bundle?.remove();
});

const mode = (over: Sessions = sessions) => createAgentMode({ sessions: over, driverOf: () => undefined, agentOf: () => AGENT });
const options = () => ({ reader: 'a session', signal: new AbortController().signal, progress: vi.fn() });

describe('the tools of an agent', () => {
  it('are listed, and called as that agent', async () => {
    expect(mode().tools.map(({ name }) => name)).toContain('send_message');
    const args = { to: 'ann', content: 'hello' };
    expect(await mode().call(CALLER, 'send_message', args, options())).toMatchObject({ structuredContent: { message_id: 'm1' } });
    expect(sent).toEqual([args]);
    expect(await mode().call(CALLER, 'send_message', { ...args, from: 'ann' }, options())).toMatchObject({ isError: true });
    expect(await mode().call(CALLER, 'dance', {}, options())).toMatchObject({ isError: true });
  });

  it('wait, and say that they do', async () => {
    const watched = options();
    const answer = await mode().call(CALLER, 'wait_for_message', { timeout_seconds: 3 }, watched);
    expect(answer).toMatchObject({ structuredContent: { message: null, timed_out: true } });
    expect(watched.progress).toHaveBeenCalledWith('2 s');
  });

  it('are given up with their caller', async () => {
    const caller = new AbortController();
    const waiting = mode().call(CALLER, 'wait_for_message', { timeout_seconds: 100 }, { ...options(), signal: caller.signal });
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });

  it('are not there for an agent that is not there, or has an older guest', async () => {
    const nobody = createAgentMode({ sessions, driverOf: () => undefined, agentOf: () => undefined });
    await expect(nobody.call(CALLER, 'get_budget', {}, options())).rejects.toMatchObject({ code: 'NotFound' });
    const away = { ...sessions, get: () => undefined };
    await expect(mode(away).call(CALLER, 'get_budget', {}, options())).rejects.toMatchObject({ code: 'Unavailable' });
    await expect(mode(await olderGuest()).call(CALLER, 'get_budget', {}, options())).rejects.toMatchObject({ reason: 'GuestTooOld' });
  });
});

/** A session with a guest that knows no tools. */
async function olderGuest(): Promise<Sessions> {
  const { callTool: _, ...incoming } = control;
  const pair = await socketPair();
  const handlers = { hello: async () => ({ generation: GENERATION, version: '0', ...GUEST_ID }) };
  new Channel(pair.far, { outgoing: {}, incoming, handlers: handlers as never });
  const client = await connectGuest(pair.near, GUEST_ID);
  const session = { ...client, state: { isControlOpen: true } } as unknown as Session;
  return { ...sessions, get: () => session };
}
