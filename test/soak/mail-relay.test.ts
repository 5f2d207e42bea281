/** kill -9 of everything the daemon keeps mail with: what a sender was told is accepted is read once, in order, under its true name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seededRandom } from '../bench/harness/random.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import type { RelayLine } from '../support/mail-relay.ts';
import { startScript } from '../support/script.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 25 : 4;
const SENDERS = 50;
const COUNT = isFull ? 100 : 20;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);

/** What senders were told, and what the reader has got: both outlive the process that is killed. */
class Ledger {
  readonly accepted = new Map<string, string>();
  readonly read = new Map<string, number>();
  readonly next: number[] = Array(SENDERS).fill(0);
  readonly wrong: string[] = [];
  cursor = 0;
  readonly refusals = { InboxFull: 0, RateLimited: 0 };

  hear(line: RelayLine): void {
    if (line.is === 'open') this.wrong.push(...line.problems);
    if (line.is === 'refused') this.refusals[line.code]++;
    if (line.is === 'accepted') {
      this.accepted.set(line.name, line.id);
      const [sender = '', number = ''] = line.name.slice(1).split('/');
      this.next[Number(sender)] = Number(number) + 1;
    }
    if (line.is === 'read') this.#take(line);
  }

  #take({ seq, id, from, name }: RelayLine & { is: 'read' }): void {
    if (seq !== this.cursor + 1) this.wrong.push(`${seq} was read after ${this.cursor}`);
    if (this.read.has(id)) this.wrong.push(`${id} was read as ${this.read.get(id)} and as ${seq}`);
    if (!name.startsWith(`${from}/`)) this.wrong.push(`${name} says it is from ${from}`);
    this.read.set(id, seq);
    this.cursor = seq;
  }
}

async function run(folder: string, seed: number, ledger: Ledger, killAfter: number): Promise<boolean> {
  const args = [folder, seed, JSON.stringify(ledger.next), COUNT, ledger.cursor].map(String);
  const script = startScript('mail-relay.ts', args);
  const target = ledger.accepted.size + killAfter;
  script.onLine((text) => {
    ledger.hear(JSON.parse(text) as RelayLine);
    if (ledger.accepted.size >= target) script.child.kill('SIGKILL');
  });
  const { code, signal, stderr } = await script.ended;
  if (signal !== 'SIGKILL' && code !== 0) ledger.wrong.push(`it ended by itself: ${stderr}`);
  return code === 0;
}

it(`reads every accepted message of ${SENDERS} senders once and in order after ${KILLS} kill -9 of the relay (seed ${SEED})`, async () => {
  await inTemporaryFolder(async (folder) => {
    const random = seededRandom(SEED);
    const ledger = new Ledger();
    for (let kill = 0; kill < KILLS; kill++) {
      await run(folder, SEED + kill, ledger, 1 + Math.floor((random() * 1.6 * SENDERS * COUNT) / KILLS));
      expect(ledger.wrong, `seed ${SEED}, kill ${kill}`).toEqual([]);
    }
    expect(await run(folder, SEED + KILLS, ledger, Number.POSITIVE_INFINITY), ledger.wrong.join('\n')).toBe(true);
    expect(ledger.wrong, `seed ${SEED}, last run`).toEqual([]);
    const lost = [...ledger.accepted].filter(([, id]) => !ledger.read.has(id));
    expect(lost, `seed ${SEED}`).toEqual([]);
    expect(ledger.accepted.size).toBe(SENDERS * COUNT);
    const mail = join(folder, 'mail');
    for (const file of readdirSync(mail)) {
      for (const line of readFileSync(join(mail, file), 'utf8').split('\n').filter(Boolean)) JSON.parse(line);
    }
    const { InboxFull, RateLimited } = ledger.refusals;
    const refused = `${InboxFull} refused as full, ${RateLimited} as too fast`;
    console.info(`relay: ${ledger.accepted.size} accepted, ${ledger.read.size} read, ${refused}, seed ${SEED}`);
  });
});
