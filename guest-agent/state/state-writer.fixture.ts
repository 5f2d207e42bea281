/**
 * A process that writes to the guest's state until it is killed, and says on stdout what has become durable. Arguments: state directory, first
 * number, seed. Each number is a message, an attempt that starts, a result, and now and then an acknowledgement.
 */
import { writeSync } from 'node:fs';
import type { Envelope, TaskAssignment } from '#protocol/relay.ts';
import { toLostResult } from '../tasks/run-task.ts';
import { Attempts, toKey } from './attempts.ts';
import { Inbox } from './inbox.ts';
import { Results } from './results.ts';

export type Said = 'stored' | 'queued' | 'started' | 'result' | 'acked' | 'revoked';

const [stateDir = '', first = '1', seed = '1'] = process.argv.slice(2);
const say = (said: Said, number: number) => writeSync(1, `${said} ${number}\n`);

export function messageOf(number: number): Envelope {
  const sent = { namespace: 'default', team: 'blue', from: 'ann', to: 'bob', timestamp: 'now' };
  return { message_id: `m${number}`, seq: number, ...sent, message_type: 'text', content: `${number} `.repeat(1 + ((number * 37) % 200)) };
}

export function assignmentOf(number: number): TaskAssignment {
  return { taskUid: `uid${number}`, taskName: `task${number}`, attempt: 1, fencingToken: number, command: 'true', timeoutMs: 1000 };
}

async function write(): Promise<void> {
  const fail = (text: string) => {
    throw new Error(text);
  };
  const inbox = new Inbox(stateDir, fail, { minCompactBytes: 20_000 });
  const attempts = new Attempts(stateDir, fail, { minCompactBytes: 20_000 });
  const results = new Results(stateDir, { isSettled: (key) => attempts.isSettled(key), warn: fail, minCompactBytes: 20_000 });
  const store = async (number: number) => {
    await inbox.store([messageOf(number)]);
    say('stored', number);
  };
  const attempt = async (number: number) => {
    const assigned = { seq: number, messageId: `m${number}`, assignment: assignmentOf(number) };
    const key = toKey(assigned.assignment);
    await attempts.queue([assigned]);
    say('queued', number);
    await attempts.markStarted(key);
    say('started', number);
    if (number % 5 === 0) return;
    if (number % 7 === 0) {
      await attempts.settle([key], 'revoked');
      say('revoked', number);
      return;
    }
    await results.put({
      ...toLostResult(assigned),
      isLost: false,
      exitCode: number % 100,
      stdout: `${number} `.repeat((number * 53) % 6000),
    });
    say('result', number);
    if ((number * Number(seed)) % 3 !== 0) return;
    await attempts.settle([key], 'acked');
    say('acked', number);
    await results.remove(key);
  };
  for (let number = Number(first); ; number += 2)
    await Promise.all([store(number), attempt(number), attempt(number + 1)]).then(() => store(number + 1));
}

if (stateDir.startsWith('/')) void write();
