/** How long a message takes to an agent that is busy: from the wish to send it until the guest has it on its own disk and has said so. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSessions } from '#guest/create-sessions.ts';
import type { Session } from '#guest/sessions.ts';
import { silentLogger } from '#lib/log.ts';
import type { Mailbox } from '#mail/mail.ts';
import { openMail } from '#mail/open-mail.ts';
import { answering } from '../../support/relay-desk.ts';
import { type BenchContext, BenchError, type Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { figuresOf, WHOLE_ROUND } from './figures.ts';
import { detectMachine, newSpec, openSandboxes } from './sandboxes.ts';

const MESSAGES = 40;
const QUICK_MESSAGES = 5;
const BETWEEN_MS = 50;
const TIMEOUT_MS = 60_000;
const LOOK_MS = 20;

export const message: Operation = {
  id: 'message',
  about:
    'a real sandbox with a session and a mailbox on disk; a message is appended, hinted, fetched, stored and confirmed, 40 times, once with nothing else to do and once while `yes` runs in the same agent and its output is read as fast as it comes',
  rounds: { full: 5, quick: 1 },
  reference: WHOLE_ROUND,
  comparisons: [
    { label: 'message to an idle agent, median', unit: 'ms', ours: (of) => of('idle') },
    { label: 'message during an exec that prints without end, median', unit: 'ms', ours: (of) => of('busy'), goal: atMost(50) },
    { label: '- slowest of 40', unit: 'ms', ours: (of) => of('busy max') },
  ],
  async open(context) {
    const { session, mailbox } = await openAgent(context);
    const count = context.quick ? QUICK_MESSAGES : MESSAGES;
    return figuresOf(['idle', 'busy', 'busy max'], async () => {
      const idle = await sendMany(mailbox, session, count);
      const busy = await whileFlooded(session, () => sendMany(mailbox, session, count));
      return { idle: median(idle), busy: median(busy), 'busy max': Math.max(...busy) };
    });
  },
};

async function openAgent(context: BenchContext): Promise<{ session: Session; mailbox: Mailbox }> {
  const { driver, create } = await openSandboxes(context, await detectMachine(context));
  const mail = openMail({ directory: join(context.dir, 'mail'), log: silentLogger });
  context.own({ close: () => mail.close() });
  const spec = newSpec();
  const mailbox = await mail.open(spec.id);
  const sessions = createSessions({
    dial: (id, port, signal) => driver.connect(id, port, signal),
    desk: answering({
      teamReceive: async (_id, { after, limit }) => ({ messages: mailbox.read({ after, limit }), nextSeq: mailbox.state.nextSeq }),
      async teamAck(_id, { storedSeq }) {
        await mailbox.markDelivered(storedSeq);
        return { unknown: [] };
      },
    }),
    version: '0.0.0',
  });
  context.own({ close: async () => sessions.closeAll() });
  (await (await create(spec)).answered()).close('the session follows');
  const session = sessions.ensure(spec.id, spec.incarnation);
  await until(() => session.state.heartbeat !== undefined && session.state.isControlOpen, 'no heartbeat came');
  return { session, mailbox };
}

async function sendMany(mailbox: Mailbox, session: Session, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    const { seq, message_id } = await mailbox.append({
      namespace: 'default',
      team: 'bench',
      from: 'one',
      to: 'two',
      message_type: 'text',
      content: 'hello',
    });
    session.hint(seq + 1);
    await until(() => mailbox.state.deliveredSeq >= seq, 'the message did not arrive', 1);
    took.push(performance.now() - began);
    await mailbox.ack([message_id]);
    await delay(BETWEEN_MS);
  }
  return took;
}

async function whileFlooded<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const params = { execId: randomUUID(), argv: ['yes'], hasStdin: false };
  const { result, down } = session.open('execStream', params, { signal: ending.signal });
  result.catch(() => {});
  down.stderr.resume();
  await once(down.stdout, 'data');
  down.stdout.resume();
  try {
    return await work();
  } finally {
    ending.abort(new Error('measured'));
  }
}

async function until(isSo: () => boolean, complaint: string, lookMs = LOOK_MS): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!isSo()) {
    if (performance.now() > deadline) throw new BenchError(complaint);
    await delay(lookMs);
  }
}
