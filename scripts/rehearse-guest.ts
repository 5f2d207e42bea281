/**
 * The host's part of a short life of a guest agent: it is greeted, configured and given tasks, so that Node compiles what that takes. Bundled
 * and run by scripts/bundle-guest.mjs, which keeps the compiled code.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { agentVerbs } from '#protocol/agent-verbs.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import { type AttemptKey, control } from '#protocol/control.ts';
import type { HandlersOf } from '#protocol/method.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type Envelope, type RelayToHostHandlers, relayToGuest, relayToHost } from '#protocol/relay.ts';

/** More than one: what is done with the first of a kind is not what is done with the next. */
const TASKS = 3;
const CONFIGURATION = { httpAddress: null, agentToken: '', teamToken: null, card: { name: 'rehearsal' }, peers: {}, maxTasks: 4 };

export interface RehearsedGuest {
  readonly runDir: string;
  readonly id: string;
  readonly incarnation: string;
}

export async function rehearse({ runDir, ...identity }: RehearsedGuest): Promise<void> {
  const hello = { generation: GENERATION, ...identity };
  const guest = new Channel(connect(join(runDir, 'control.sock')), { outgoing: control });
  await guest.call('hello', hello);
  const mailbox: Envelope[] = [];
  let onResults = (_results: readonly AttemptKey[]): void => {};
  const handlers: RelayToHostHandlers = {
    ...refusedVerbs(),
    ping: async () => ({ version: '', generation: GENERATION, uptimeMs: 0 }),
    heartbeat: async ({ results = [] }) => {
      if (results.length > 0) onResults(results);
      return {};
    },
    teamReceive: async ({ after, limit }) => ({ messages: mailbox.slice(after, after + limit), nextSeq: mailbox.length + 1 }),
    teamAck: async () => ({ unknown: [] }),
    teamMessage: refuse,
    teamMessages: refuse,
    taskCreate: refuse,
  };
  const options = { outgoing: relayToGuest, incoming: relayToHost, handlers };
  const relay = new Channel(connect(join(runDir, 'relay.sock')), options);
  await relay.call('hello', hello);
  await guest.call('configure', CONFIGURATION);
  let accepted: readonly AttemptKey[] = [];
  for (let task = 1; task <= TASKS; task += 1) {
    const resulted = new Promise<readonly AttemptKey[]>((resolve) => {
      onResults = resolve;
    });
    const message = assignmentOf(task);
    mailbox.push(message);
    void relay.call('messageHint', { nextSeq: task + 1, messages: [message], accepted }).catch(() => {});
    accepted = (await resulted).map(({ taskUid, attempt }) => ({ taskUid, attempt }));
  }
  await relay.call('messageHint', { nextSeq: TASKS + 1, accepted });
  for (const channel of [guest, relay]) channel.close(new ProtocolError('Unavailable', 'rehearsed'));
}

function assignmentOf(seq: number): Envelope {
  const names = { taskUid: `rehearsal-${seq}`, taskName: `rehearsal-${seq}`, command: 'true' };
  const content = JSON.stringify({ ...names, attempt: 1, fencingToken: 1, timeoutMs: 60_000 });
  const sent = { namespace: 'default', team: 'rehearsal', from: 'system', to: 'rehearsal', timestamp: new Date(0).toISOString() };
  return { message_id: `rehearsal-${seq}`, seq, ...sent, message_type: 'task_assignment', content };
}

function refuse(): Promise<never> {
  return Promise.reject(new ProtocolError('Unavailable', 'this is a rehearsal'));
}

function refusedVerbs(): HandlersOf<typeof agentVerbs> {
  // The same names; whoever is refused needs no result.
  return Object.fromEntries(Object.keys(agentVerbs).map((verb) => [verb, refuse])) as unknown as HandlersOf<typeof agentVerbs>;
}
