import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Envelope, RelayHostMethodName, RelayHostParams, RelayHostResult } from '#protocol/relay.ts';
import { seededRandom } from '../../test/bench/harness/random.ts';
import { Inbox } from '../state/inbox.ts';
import { Receiver } from './receiver.ts';

let directory: string;
let inbox: Inbox;
let receiver: Receiver;
const mailbox: Envelope[] = [];
const acks: RelayHostParams<'teamAck'>[] = [];
const taken: string[] = [];
let pulls = 0;
/** The last number that the mailbox has given, also to what was taken back since. */
let sentSeq = 0;
let failing: { readonly method: RelayHostMethodName | 'takeAssignments'; times: number } | undefined;

/** The host's mailbox without a connection, so that each step can be made to fail. */
const host = {
  call: async <M extends RelayHostMethodName>(method: M, params: RelayHostParams<M>): Promise<RelayHostResult<M>> => {
    failIfWanted(method);
    const answers: Partial<Record<RelayHostMethodName, () => unknown>> = {
      teamReceive: () => {
        pulls += 1;
        const { after } = params as RelayHostParams<'teamReceive'>;
        return { messages: mailbox.filter(({ seq }) => seq > after), nextSeq: sentSeq + 1 };
      },
      teamAck: () => {
        acks.push(params as RelayHostParams<'teamAck'>);
        return { unknown: [] };
      },
    };
    return answers[method]?.() as RelayHostResult<M>;
  },
};

function failIfWanted(method: string): void {
  if (failing?.method !== method || failing.times === 0) return;
  failing.times -= 1;
  throw new ProtocolError('Unavailable', `${method} fails`);
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-receiver-'));
  inbox = new Inbox(directory, (text) => expect.unreachable(text));
  for (const list of [mailbox, acks, taken]) list.length = 0;
  failing = undefined;
  pulls = 0;
  sentSeq = 0;
  const takeAssignments = async (messages: readonly Envelope[]) => {
    failIfWanted('takeAssignments');
    taken.push(...messages.map(({ message_id }) => message_id));
  };
  receiver = new Receiver({ inbox, host, takeAssignments, onDrained: () => {}, warn: (text) => expect.unreachable(text) });
});

afterEach(async () => {
  receiver.stop();
  await inbox.close();
  rmSync(directory, { recursive: true, force: true });
});

function send(message_type: Envelope['message_type'] = 'text'): Envelope {
  sentSeq += 1;
  const seq = sentSeq;
  const sent = { namespace: 'default', team: 'blue', from: 'ann', to: 'bob', timestamp: 'now' };
  const message = { message_id: `m${seq}`, seq, ...sent, message_type, content: 'text' };
  mailbox.push(message);
  return message;
}

const stored = () => inbox.unseen().map(({ message_id }) => message_id);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => `m${index + 1}`);

/** Connected, and everything is in. */
async function settled(): Promise<void> {
  receiver.start();
  await vi.waitFor(() => expect(acks).toHaveLength(1));
  pulls = 0;
}

it('reports what the agent has seen until the host has heard it', async () => {
  send();
  receiver.start();
  await vi.waitFor(() => expect(acks.at(-1)).toEqual({ storedSeq: 1, seen: [] }));
  await inbox.markSeen(['m1']);
  failing = { method: 'teamAck', times: 1 };
  receiver.wake();
  await vi.waitFor(() => expect(failing?.times).toBe(0));
  expect(inbox.unreported()).toEqual(['m1']);
  receiver.wake();
  await vi.waitFor(() => expect(acks.at(-1)).toEqual({ storedSeq: 1, seen: ['m1'] }));
  await vi.waitFor(() => expect(inbox.unreported()).toEqual([]));
});

it('tells of many that were seen without letting more come together: a sender may wait for room', async () => {
  await settled();
  for (let count = 0; count < 40; count += 1) send();
  receiver.hint(sentSeq + 1, mailbox);
  await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(40));
  await inbox.markSeen(upTo(40));
  const told = acks.length;
  receiver.report();
  expect(acks.slice(told)).toEqual([{ storedSeq: 40, seen: upTo(40) }]);
  await vi.waitFor(() => expect(inbox.unreported()).toEqual([]));
});

it('stores what came with one hint after another together, and what was seen of it with them', async () => {
  await settled();
  const [first, second] = [send(), send()];
  receiver.hint(2, [first]);
  const seen = inbox.markSeen(['m1']);
  receiver.hint(3, [second]);
  expect(stored()).toEqual(['m2']);
  await seen;
  expect(inbox.cursor).toBe(2);
  await vi.waitFor(() => expect(acks.at(-1)).toEqual({ storedSeq: 2, seen: ['m1'] }));
  expect(pulls).toBe(0);
});

it('stores what has come when the connection is lost: somebody may have seen it', async () => {
  await settled();
  receiver.hint(2, [send()]);
  const seen = inbox.markSeen(['m1']);
  receiver.stop();
  await seen;
  await inbox.close();
  inbox = new Inbox(directory, (text) => expect.unreachable(text));
  expect([inbox.cursor, inbox.unreported()]).toEqual([1, ['m1']]);
});

it('confirms at a new connection what an older one has not carried', async () => {
  send();
  failing = { method: 'teamAck', times: 1 };
  receiver.start();
  await vi.waitFor(() => expect(failing?.times).toBe(0));
  receiver.stop();
  receiver.start();
  await vi.waitFor(() => expect(acks).toEqual([{ storedSeq: 1, seen: [] }]));
});

it('does not move behind an assignment that nobody has taken', async () => {
  send('task_assignment');
  send();
  failing = { method: 'takeAssignments', times: 1 };
  receiver.start();
  await vi.waitFor(() => expect(failing?.times).toBe(0));
  expect(inbox.cursor).toBe(0);
  receiver.wake();
  await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(2));
  expect(taken).toEqual(['m1']);
});

describe('a hint', () => {
  it('is answered with the report on its messages', async () => {
    await settled();
    const { seq } = send();
    receiver.hint(seq + 1, mailbox.slice(-1));
    await receiver.taken();
    expect([inbox.cursor, acks.at(-1)]).toEqual([seq, { storedSeq: seq, seen: [] }]);
  });

  it('is answered when there is nothing to report, and when it cannot be', async () => {
    await settled();
    receiver.hint(1);
    await receiver.taken();
    send();
    failing = { method: 'teamReceive', times: 1 };
    receiver.hint(2);
    await receiver.taken();
    expect(inbox.cursor).toBe(0);
    receiver.hint(2);
    const answered = receiver.taken();
    receiver.stop();
    await answered;
  });
});

describe('messages that come with a hint', () => {
  it('are stored without a question, those that come together by one write, and confirmed together', async () => {
    await settled();
    const messages = [send(), send(), send()];
    const before = acks.length;
    for (const message of messages) receiver.hint(message.seq + 1, [message]);
    await vi.waitFor(() => expect(acks.at(-1)).toEqual({ storedSeq: 3, seen: [] }));
    expect([stored(), pulls, acks.length - before]).toEqual([upTo(3), 0, 1]);
  });

  it('are asked for when one before them was lost', async () => {
    await settled();
    send();
    const second = send();
    receiver.hint(second.seq + 1, [second]);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(2));
    expect([stored(), pulls]).toEqual([upTo(2), 1]);
  });

  it('are asked for when the hint tells of more than it brings', async () => {
    await settled();
    const first = send();
    send();
    receiver.hint(3, [first]);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(2));
    expect([stored(), pulls]).toEqual([upTo(2), 1]);
  });

  it('may come in any order and more than once', async () => {
    await settled();
    const messages = [send(), send(), send()];
    for (const index of [2, 1, 0, 2, 0]) receiver.hint(messages[index]?.seq ?? 0, messages.slice(index, index + 1));
    receiver.hint(4, messages);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(3));
    for (const message of messages) receiver.hint(message.seq + 1, [message]);
    receiver.wake();
    const last = send();
    receiver.hint(last.seq + 1, [last]);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(4));
    expect(stored()).toEqual(upTo(4));
  });

  it('do not take the place of the look at a new connection', async () => {
    receiver.start();
    const message = send();
    receiver.hint(2, [message]);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(1));
    expect(pulls).toBe(1);
  });

  it('are not asked for without end when the last ones were taken back', async () => {
    await settled();
    send();
    send();
    mailbox.pop();
    receiver.hint(3);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(1));
    const before = pulls;
    const next = send();
    receiver.hint(next.seq + 1, [next]);
    await vi.waitFor(() => expect(stored()).toEqual(['m1', 'm3']));
    expect(pulls).toBeGreaterThan(before);
  });

  it('with assignments are taken before the cursor moves behind them, each once', async () => {
    await settled();
    const messages = [send('task_assignment'), send()];
    failing = { method: 'takeAssignments', times: 1 };
    receiver.hint(3, messages);
    await vi.waitFor(() => expect(failing?.times).toBe(0));
    expect(inbox.cursor).toBe(0);
    receiver.hint(3, messages);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(2));
    expect([taken, stored()]).toEqual([['m1'], ['m2']]);
  });

  it('arrive each once and in their order, whatever is lost, doubled or late on the way', async () => {
    const seed = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
    console.info(`seed ${seed}`);
    const random = seededRandom(seed);
    await settled();
    const waiting: (() => void)[] = [];
    for (let index = 0; index < 300; index += 1) {
      const message = send(random() < 0.2 ? 'task_assignment' : 'text');
      const hint = () => receiver.hint(message.seq + 1, random() < 0.7 ? [message] : []);
      const dice = random();
      if (dice < 0.3) waiting.push(hint);
      else if (dice < 0.8) hint();
      if (dice > 0.7) hint();
      if (waiting.length > 3) waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.();
      if (random() < 0.3) await new Promise(setImmediate);
    }
    const last = send();
    receiver.hint(last.seq + 1);
    await vi.waitFor(() => expect(acks.at(-1)?.storedSeq).toBe(last.seq), { timeout: 10_000 });
    const of = (isWork: boolean) => mailbox.filter(({ message_type }) => (message_type === 'task_assignment') === isWork);
    expect(stored()).toEqual(of(false).map(({ message_id }) => message_id));
    expect(taken).toEqual(of(true).map(({ message_id }) => message_id));
  });
});

it('shows what comes with a hint before it is stored', async () => {
  await settled();
  const message = send();
  receiver.hint(2, [message]);
  expect([stored(), inbox.cursor]).toEqual([['m1'], 0]);
  await inbox.markSeen(['m1']);
  expect(inbox.cursor).toBe(1);
  receiver.report();
  await vi.waitFor(() => expect(acks.at(-1)).toEqual({ storedSeq: 1, seen: ['m1'] }));
});

it('shows nothing behind a gap before the gap is filled', async () => {
  await settled();
  send();
  const second = send();
  receiver.hint(3, [second]);
  expect(stored()).toEqual([]);
  await vi.waitFor(() => expect(stored()).toEqual(['m1', 'm2']));
});
