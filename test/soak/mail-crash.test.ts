/** kill -9 at random points: every accepted message is there once, in order and without a gap, and what was acked stays acked. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../bench/harness/random.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import type { Found, FullDiskMail, MailLine } from '../support/mail-writer.ts';
import { requires } from '../support/requirements.ts';
import { startScript } from '../support/script.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 50 : 6;
const SENDERS = 50;
const COUNT = isFull ? 100 : 30;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);

/** What the writers were told. */
class Told {
  readonly nameBySeq = new Map<number, string>();
  readonly seqByName = new Map<string, number>();
  readonly acking = new Set<string>();
  readonly acked = new Set<string>();
  readonly accepted = new Map<string, { readonly seq: number; readonly id: string }>();
  readonly next: number[] = Array(SENDERS).fill(0);
  delivered = 0;
  nowMs = Date.parse('2026-01-01T00:00:00.000Z');

  hear(line: MailLine): string[] {
    if (line.is === 'open') return this.#compare(line);
    if (line.is === 'delivered') this.delivered = Math.max(this.delivered, line.seq);
    if (line.is === 'acking' || line.is === 'acked') for (const id of line.ids) this[line.is].add(id);
    if (line.is !== 'accepted') return [];
    const { name, seq, id } = line;
    this.nowMs = Math.max(this.nowMs, line.nowMs);
    this.accepted.set(name, { seq, id });
    const [sender = '', number = ''] = name.slice(1).split('/');
    this.next[Number(sender)] = Number(number) + 1;
    return this.#learn(name, seq);
  }

  /** A name has one number and a number one name, for ever. */
  #learn(name: string, seq: number): string[] {
    const knownSeq = this.seqByName.get(name) ?? seq;
    const knownName = this.nameBySeq.get(seq) ?? name;
    this.seqByName.set(name, seq);
    this.nameBySeq.set(seq, name);
    return knownSeq === seq && knownName === name ? [] : [`${name} is ${seq}; before, ${name} was ${knownSeq} and ${seq} was ${knownName}`];
  }

  #compare({ found, nextSeq, deliveredSeq, problems }: MailLine & { is: 'open' }): string[] {
    const byId = new Map<string, Found>(found.map((message) => [message.id, message]));
    const wrong = [...problems, ...found.flatMap(({ name, seq }) => this.#learn(name, seq))];
    if (byId.size !== found.length) wrong.push('a message is there twice');
    if (found.some(({ seq }, index) => index > 0 && seq <= (found[index - 1]?.seq ?? 0))) wrong.push('messages are out of order');
    if (deliveredSeq < this.delivered) wrong.push(`delivered went back from ${this.delivered} to ${deliveredSeq}`);
    for (const [name, { id, seq }] of this.accepted) {
      // Acked messages may have been dropped since.
      if (!byId.has(id) && !this.acked.has(id)) wrong.push(`${name} was accepted as ${seq} and is lost`);
      if (byId.get(id)?.isUnacked && this.acked.has(id)) wrong.push(`${name} was acked and is unacked again`);
    }
    for (const { id, name, isUnacked } of found) {
      if (isUnacked) continue;
      if (!this.acking.has(id)) wrong.push(`${name} is acked, and nobody did that`);
      // The ack was on disk before the kill, and nobody was told.
      this.acked.add(id);
    }
    for (let seq = 1; seq < nextSeq; seq++) if (!this.nameBySeq.has(seq)) wrong.push(`nobody knows number ${seq}`);
    return wrong;
  }

  /** Messages of one sender keep their order. */
  outOfOrder(): string[] {
    return [...this.seqByName]
      .filter(([name, seq]) => {
        const [sender, number] = name.split('/');
        return seq <= (this.seqByName.get(`${sender}/${Number(number) - 1}`) ?? 0);
      })
      .map(([name, seq]) => `${name} is ${seq}`);
  }
}

interface Round {
  readonly folder: string;
  readonly seed: number;
  readonly told: Told;
  /** Accepted messages after which the process is killed; never when it is to finish. */
  readonly killAfter: number;
  /** Killed so soon after it began to open the mailbox instead. */
  readonly killOpeningMs?: number;
}

async function run({ folder, seed, told, killAfter, killOpeningMs }: Round): Promise<{ problems: string[]; isDone: boolean }> {
  const problems: string[] = [];
  const args = ['send', folder, seed, JSON.stringify(told.next), COUNT, told.nowMs].map(String);
  const script = startScript('mail-writer.ts', args);
  const target = told.accepted.size + killAfter;
  script.onLine((text) => {
    const line = JSON.parse(text) as MailLine;
    problems.push(...told.hear(line));
    if (line.is === 'opening' && killOpeningMs !== undefined) setTimeout(() => script.child.kill('SIGKILL'), killOpeningMs);
    if (told.accepted.size >= target) script.child.kill('SIGKILL');
  });
  const { code, signal, stderr } = await script.ended;
  if (signal !== 'SIGKILL' && code !== 0) problems.push(`the writer ended by itself: ${stderr}`);
  return { problems, isDone: code === 0 };
}

function planned(random: Random): Pick<Round, 'killAfter' | 'killOpeningMs'> {
  const killAfter = 1 + Math.floor((random() * 1.6 * SENDERS * COUNT) / KILLS);
  return random() < 0.2 ? { killAfter, killOpeningMs: random() * 40 } : { killAfter };
}

describe('a mailbox whose process is killed', () => {
  it(`has every accepted message of ${SENDERS} senders once and in order after ${KILLS} kill -9 (seed ${SEED})`, async () => {
    await inTemporaryFolder(async (folder) => {
      const random = seededRandom(SEED);
      const told = new Told();
      for (let kill = 0; kill < KILLS; kill++) {
        const { problems } = await run({ folder, seed: SEED + kill, told, ...planned(random) });
        expect(problems, `seed ${SEED}, kill ${kill}`).toEqual([]);
      }
      const { problems, isDone } = await run({ folder, seed: SEED + KILLS, told, killAfter: Number.POSITIVE_INFINITY });
      expect(problems, `seed ${SEED}, last run`).toEqual([]);
      expect(isDone).toBe(true);
      const numbers = [...told.nameBySeq.keys()].sort((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: SENDERS * COUNT }, (_, index) => index + 1));
      expect(told.seqByName.size).toBe(SENDERS * COUNT);
      expect(told.outOfOrder()).toEqual([]);
      const lines = readFileSync(join(folder, 'agent.jsonl'), 'utf8').trimEnd().split('\n');
      for (const line of lines) JSON.parse(line);
      console.info(`mail: ${told.accepted.size} messages, ${KILLS} kills, ${lines.length} lines left, seed ${SEED}`);
    });
  });
});

const namespace = [['-m'], ['-Urm']].find(
  (flags) => spawnSync('unshare', [...flags, 'sh', '-c', 'mount -t tmpfs none /mnt'], { stdio: 'ignore' }).status === 0,
);

requires(namespace !== undefined, 'a full disk needs unshare and mount in a namespace of its own')('a mailbox on a full disk', () => {
  it('refuses whole batches, keeps nothing of them, and goes on by itself when there is room', async () => {
    await inTemporaryFolder(async (folder) => {
      const script = startScript('mail-writer.ts', ['full-disk', folder], ['unshare', ...(namespace ?? [])]);
      const { code, stderr } = await script.ended;
      expect(code, stderr).toBe(0);
      const result = JSON.parse(script.lines.at(-1) ?? '') as FullDiskMail;
      const { accepted, refusals, found, seqs, isCompactionRefused, whileFull, acceptedWhileFull } = result;
      expect(whileFull.at(-1)).toBe('');
      expect(whileFull.slice(0, -1).map((line) => JSON.parse(line).key)).toEqual(accepted.slice(0, acceptedWhileFull));
      for (const refusal of refusals) expect(refusal).toEqual({ code: 'Unavailable', reason: 'DiskFull' });
      expect(refusals.length).toBeGreaterThanOrEqual(30);
      expect(new Set(found).size).toBe(found.length);
      // The same name twice was the same message.
      expect(found).toEqual([...new Set(accepted)]);
      expect(seqs).toEqual(found.map((_, index) => index + 1));
      expect(isCompactionRefused).toBe(true);
    });
  });
});
