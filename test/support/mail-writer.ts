/**
 * A process that works on one mailbox. `send` FOLDER SEED NEXT COUNT STARTED: fifty senders at once and one reader, every step said on stdout,
 * until all have sent COUNT messages or it is killed; NEXT is where each sender goes on, STARTED the time at which the clock stands.
 * `full-disk` FOLDER: the same mailbox on a disk that fills up; mounts a small tmpfs over FOLDER, so run it in a mount namespace.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { AgentisoError, isCode } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import type { Draft, Envelope } from '#mail/mail.ts';
import { openMail } from '#mail/open-mail.ts';
import { seededRandom } from '../bench/harness/random.ts';
import { sayLine } from './mail-say.ts';

export interface Found {
  readonly seq: number;
  /** `sender/number`, also the key. */
  readonly name: string;
  readonly id: string;
  readonly isUnacked: boolean;
}

export type MailLine =
  | { readonly is: 'opening' }
  | {
      readonly is: 'open';
      readonly found: readonly Found[];
      readonly nextSeq: number;
      readonly deliveredSeq: number;
      readonly problems: readonly string[];
    }
  | { readonly is: 'accepted'; readonly name: string; readonly seq: number; readonly id: string; readonly nowMs: number }
  | { readonly is: 'delivered'; readonly seq: number }
  | { readonly is: 'acking' | 'acked'; readonly ids: readonly string[] }
  | { readonly is: 'done' };

export interface FullDiskMail {
  readonly accepted: readonly string[];
  readonly refusals: readonly { readonly code: string; readonly reason: string }[];
  readonly found: readonly string[];
  readonly seqs: readonly number[];
  /** The journal while the disk was full, read without the room's help. */
  readonly whileFull: readonly string[];
  readonly acceptedWhileFull: number;
  readonly isCompactionRefused: boolean;
}

const OWNER = 'agent';
/** So many messages make a day: old ones are dropped while the test runs. */
const MESSAGES_A_DAY = 600;
const DAY_MS = 24 * 60 * 60 * 1_000;

const say = (line: MailLine) => sayLine(line);

const draft = (name: string, content: string): Draft => ({
  namespace: 'default',
  team: 'web',
  from: name.split('/')[0] ?? '',
  to: 'tester',
  message_type: 'text',
  content,
  metadata: { name },
  key: name,
});
const nameOf = (message: Envelope) => message.metadata?.['name'] ?? '';

async function send(folder: string, seed: number, next: readonly number[], count: number, startedMs: number): Promise<void> {
  let nowMs = startedMs;
  say({ is: 'opening' });
  const problems: string[] = [];
  const mail = openMail({
    directory: folder,
    log: silentLogger,
    clock: { now: () => new Date(nowMs) },
    onProblem: ({ message }) => problems.push(message),
    onDeadLetter: ({ message }) => problems.push(`dead: ${nameOf(message)}`),
  });
  const mailbox = await mail.open(OWNER);
  const unacked = new Set(mailbox.unacked().map(({ seq }) => seq));
  const found = mailbox
    .read({ after: 0, limit: 1_000_000 })
    .map((message) => ({ seq: message.seq, name: nameOf(message), id: message.message_id, isUnacked: unacked.has(message.seq) }));
  say({ is: 'open', found, problems, nextSeq: mailbox.state.nextSeq, deliveredSeq: mailbox.state.deliveredSeq });
  let sending = next.length;

  const sender = async (number: number) => {
    const random = seededRandom(seed * 31 + number);
    for (let n = next[number] ?? 0; n < count; ) {
      const name = `s${number}/${n}`;
      try {
        const { seq, message_id: id } = await mailbox.append(draft(name, 'x'.repeat(Math.floor(random() * 3_000))));
        nowMs += DAY_MS / MESSAGES_A_DAY;
        say({ is: 'accepted', name, seq, id, nowMs });
        n++;
      } catch (error) {
        if (!isCode(error, 'InboxFull')) throw error;
        await turn();
      }
    }
    sending--;
  };

  const reader = async () => {
    const random = seededRandom(seed);
    while (sending > 0 || mailbox.state.unacked > 0) {
      const seq = mailbox.state.nextSeq - 1;
      await mailbox.markDelivered(seq);
      say({ is: 'delivered', seq });
      const ids = mailbox
        .read({ after: 0, limit: 40, unackedOnly: true })
        .filter(() => random() < 0.7)
        .map(({ message_id }) => message_id);
      say({ is: 'acking', ids });
      await mailbox.ack(ids);
      say({ is: 'acked', ids });
      await turn();
    }
  };
  const sweeper = async () => {
    while (sending > 0) {
      await mail.sweep();
      await turn();
    }
  };
  await Promise.all([...next.map((_, number) => sender(number)), reader(), sweeper()]);
  await mail.close();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  say({ is: 'done' });
}

/** Leaves so many bytes of the disk free. */
function fillUp(path: string, free: number): void {
  const fd = openSync(path, 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch {
    // Full: what was asked for.
  } finally {
    closeSync(fd);
  }
  truncateSync(path, statSync(path).size - free);
}

async function fullDisk(folder: string): Promise<FullDiskMail> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', folder]);
  const filler = join(folder, 'filler');
  const directory = join(folder, 'mail');
  let nowMs = 0;
  let isCompactionRefused = false;
  const log = Object.assign(Object.create(silentLogger), {
    warn: () => {
      isCompactionRefused = true;
    },
  });
  const open = () => openMail({ directory, log, clock: { now: () => new Date(nowMs) } });
  let mail = open();
  let mailbox = await mail.open(OWNER);
  const accepted: string[] = [];
  const refusals: { code: string; reason: string }[] = [];
  const attempt = async (name: string) => {
    try {
      await mailbox.append(draft(name, 'x'.repeat(3_000)));
      accepted.push(name);
    } catch (error) {
      if (!(error instanceof AgentisoError)) throw error;
      refusals.push({ code: error.code, reason: error.reason });
    }
  };
  const several = (what: string) => Promise.all(Array.from({ length: 7 }, (_, i) => attempt(`${what}/${i}`)));
  await several('before');
  fillUp(filler, 40 * 1024);
  for (let i = 0; refusals.length < 30; i++) await several(`during-${i}`);
  const whileFull = readFileSync(join(directory, `${OWNER}.jsonl`), 'utf8').split('\n');
  const acceptedWhileFull = accepted.length;
  // Whoever was refused tries again with the same key, and is accepted once.
  rmSync(filler);
  for (let i = 0; i < 3; i++) await several(`during-${i}`);
  await several('after');
  await mailbox.ack(mailbox.unacked().map(({ message_id }) => message_id));
  nowMs += DAY_MS;
  await attempt('last');
  fillUp(filler, 0);
  await mail.sweep();
  await mail.close();
  nowMs = 0;
  mail = open();
  mailbox = await mail.open(OWNER);
  const messages = mailbox.read({ after: 0, limit: 1_000 });
  await mail.close();
  return {
    accepted,
    refusals,
    whileFull,
    acceptedWhileFull,
    isCompactionRefused,
    found: messages.map(nameOf),
    seqs: messages.map(({ seq }) => seq),
  };
}

const [mode = '', folder = '', seed = '0', next = '[]', count = '0', started = '0'] = process.argv.slice(2);
if (mode === 'send') await send(folder, Number(seed), JSON.parse(next) as number[], Number(count), Number(started));
else process.stdout.write(`${JSON.stringify(await fullDisk(folder))}\n`);
