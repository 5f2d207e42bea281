/** kill -9 at random points: no acknowledged write is lost, none is doubled, no deleted object comes back. */
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../bench/harness/random.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import type { CrashLine, Seen } from '../support/crash-writer.ts';
import { startScript } from '../support/script.ts';
import { auditFiles, auditState } from '../support/store-audit.ts';
import { onHome, specOf } from '../support/store-home.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 50 : 6;
const WRITES = isFull ? 10_000 : 1_500;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);

/** What the writers were told, and the one step per object that may or may not have happened. */
class Ledger {
  readonly objects = new Map<string, Seen | null>();
  readonly tried = new Map<string, { title: string; progress: string } | null>();
  version = 0;
  acknowledged = 0;

  hear(line: CrashLine): void {
    if (line.is === 'try') this.tried.set(line.name, line.next);
    if (line.is !== 'ack') return;
    this.tried.delete(line.name);
    this.objects.set(line.name, line.seen);
    this.version = Math.max(this.version, line.version);
    this.acknowledged++;
  }

  /** Compares with what a new process found, then takes that as the truth. */
  check(version: number, found: Readonly<Record<string, Seen>>): string[] {
    const problems = version < this.version ? [`version went back from ${this.version} to ${version}`] : [];
    for (const name of new Set([...this.objects.keys(), ...this.tried.keys(), ...Object.keys(found)])) {
      const told = this.objects.get(name) ?? null;
      const is = found[name] ?? null;
      if (sameSeen(told, is) || this.#isTried(name, told, is)) continue;
      const tried = this.tried.has(name) ? `, tried ${JSON.stringify(this.tried.get(name))}` : '';
      problems.push(`${name}: acknowledged ${JSON.stringify(told)}${tried}, found ${JSON.stringify(is)}`);
    }
    this.objects.clear();
    for (const [name, seen] of Object.entries(found)) this.objects.set(name, seen);
    this.tried.clear();
    this.version = Math.max(this.version, version);
    return problems;
  }

  #isTried(name: string, told: Seen | null, is: Seen | null): boolean {
    if (!this.tried.has(name)) return false;
    const next = this.tried.get(name) ?? null;
    if (next === null || is === null) return next === is;
    return is.title === next.title && is.progress === next.progress && is.version > (told?.version ?? 0) && (!told || told.uid === is.uid);
  }
}

function sameSeen(a: Seen | null, b: Seen | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Starts a writer and kills it: mostly after some acknowledged writes, sometimes while it is still opening the store. */
async function runAndKill(home: string, seed: number, ledger: Ledger, random: Random): Promise<string[]> {
  const problems: string[] = [];
  const script = startScript('crash-writer.ts', [home, String(seed), '1000000']);
  const target = ledger.acknowledged + 1 + Math.floor(random() * 2 * (WRITES / KILLS));
  const isEarly = random() < 0.2;
  const opening = random() * 60;
  script.onLine((text) => {
    const line = JSON.parse(text) as CrashLine;
    if (line.is === 'open') problems.push(...ledger.check(line.version, line.objects));
    // Putting files right must not change any object.
    if (line.is === 'ready') problems.push(...line.problems, ...ledger.check(ledger.version, line.objects));
    ledger.hear(line);
    if (line.is === 'opening' && isEarly) setTimeout(() => script.child.kill('SIGKILL'), opening);
    if (ledger.acknowledged >= target) script.child.kill('SIGKILL');
  });
  const { signal, stderr } = await script.ended;
  if (signal !== 'SIGKILL') problems.push(`the writer ended by itself: ${stderr}`);
  return problems;
}

describe('a store that is killed', () => {
  it(`keeps every acknowledged write over ${KILLS} kill -9 (seed ${SEED})`, async () => {
    await inTemporaryFolder(async (home) => {
      const random = seededRandom(SEED);
      const ledger = new Ledger();
      let kills = 0;
      while (kills < KILLS || ledger.acknowledged < WRITES) {
        const problems = await runAndKill(home, SEED + kills, ledger, random);
        expect(problems, `seed ${SEED}, kill ${kills}`).toEqual([]);
        kills++;
      }
      await onHome(home, async ({ directory, store }) => {
        const found = Object.fromEntries(
          store.list('Task').items.map(({ metadata, spec, status }) => [
            metadata.name,
            {
              uid: metadata.uid,
              version: Number(metadata.resourceVersion),
              title: String(specOf({ spec } as never)['title'] ?? ''),
              progress: String((status as { progress?: { text: string } } | undefined)?.progress?.text ?? ''),
            },
          ]),
        );
        expect(ledger.check(store.resourceVersion, found)).toEqual([]);
        await directory.settled();
        expect(auditFiles(directory)).toEqual([]);
      });
      expect(auditState(home)).toEqual([]);
      console.info(`crash: ${ledger.acknowledged} acknowledged writes, ${kills} kills, seed ${SEED}`);
    });
  });
});
