import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Envelope, RelayHostMethodName, RelayHostParams, RelayHostResult } from '#protocol/relay.ts';
import { Inbox } from '../state/inbox.ts';
import { Receiver } from './receiver.ts';

let directory: string;
let inbox: Inbox;
let receiver: Receiver;
const mailbox: Envelope[] = [];
const acks: RelayHostParams<'teamAck'>[] = [];
const taken: string[] = [];
let failing: { readonly method: RelayHostMethodName | 'takeAssignments'; times: number } | undefined;

/** The host's mailbox without a connection, so that each step can be made to fail. */
const host = {
  call: async <M extends RelayHostMethodName>(method: M, params: RelayHostParams<M>): Promise<RelayHostResult<M>> => {
    failIfWanted(method);
    const answers: Partial<Record<RelayHostMethodName, () => unknown>> = {
      teamReceive: () => {
        const { after } = params as RelayHostParams<'teamReceive'>;
        return { messages: mailbox.filter(({ seq }) => seq > after), nextSeq: mailbox.length + 1 };
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

function send(message_type: Envelope['message_type'] = 'text'): void {
  const seq = mailbox.length + 1;
  const sent = { namespace: 'default', team: 'blue', from: 'ann', to: 'bob', timestamp: 'now' };
  mailbox.push({ message_id: `m${seq}`, seq, ...sent, message_type, content: 'text' });
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
