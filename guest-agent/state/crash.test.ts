import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../../test/bench/harness/random.ts';
import { Attempts, toKey } from './attempts.ts';
import { Inbox } from './inbox.ts';
import { Results } from './results.ts';
import { assignmentOf, messageOf, type Said } from './state-writer.fixture.ts';

const ROUNDS = 8;
const ORDER: readonly Said[] = ['queued', 'started', 'result', 'acked'];

let directory: string;
let program: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-state-'));
  program = join(directory, 'writer.cjs');
  const entry = join(import.meta.dirname, 'state-writer.fixture.ts');
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
  });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Spoken {
  readonly stored: Set<number>;
  readonly attempts: Map<number, Said>;
}

/** Lets it write for a while, kills it, and adds what it has said to what was said before. */
async function writeUntilKilled(
  args: readonly string[],
  { lines, afterMs, spoken }: { lines: number; afterMs: number; spoken: Spoken },
): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  const enough = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      if (out.split('\n').length > lines) resolve();
    });
  });
  const closed = once(child, 'close');
  await Promise.race([enough, closed.then(() => Promise.reject(new Error('the writer ended by itself')))]);
  // Anywhere in the middle of what comes next.
  await delay(afterMs);
  child.kill('SIGKILL');
  await closed;
  for (const line of out.split('\n').slice(0, -1)) {
    const [said, number] = line.split(' ') as [Said, string];
    if (said === 'stored') spoken.stored.add(Number(number));
    else spoken.attempts.set(Number(number), said);
  }
}

it('loses and repeats nothing that was said to be durable, whenever it is killed', { timeout: 120_000 }, async () => {
  const seed = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
  console.info(`seed ${seed}`);
  const random = seededRandom(seed);
  const stateDir = join(directory, 'state');
  rmSync(stateDir, { recursive: true, force: true });
  mkdirSync(stateDir);
  const spoken: Spoken = { stored: new Set(), attempts: new Map() };
  let first = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    const lines = 1 + Math.floor(random() * 600);
    await writeUntilKilled([stateDir, String(first), String(1 + (seed % 2))], { lines, afterMs: random() * 30, spoken });
    const inbox = new Inbox(stateDir, (text) => expect.unreachable(text));
    const attempts = new Attempts(stateDir, (text) => expect.unreachable(text));
    const results = new Results(stateDir, { isSettled: (key) => attempts.isSettled(key), warn: (text) => expect.unreachable(text) });
    checkInbox(inbox, spoken);
    await checkAttempts(attempts, results, spoken);
    first = Math.max(inbox.cursor, ...spoken.attempts.keys()) + 3;
  }
  expect(spoken.attempts.size).toBeGreaterThan(0);
});

function checkInbox(inbox: Inbox, { stored }: Spoken): void {
  const messages = inbox.read({ after: 0, limit: 1000 });
  const numbers = messages.map(({ seq }) => seq);
  expect(inbox.cursor).toBeGreaterThanOrEqual(Math.max(0, ...stored));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(messages).toEqual(numbers.map(messageOf));
  const lastStored = [...stored].sort((a, b) => b - a).slice(0, 90);
  for (const number of lastStored) expect(numbers).toContain(number);
}

async function checkAttempts(attempts: Attempts, results: Results, spoken: Spoken): Promise<void> {
  const found = new Map(
    (await results.read({ limit: 1_000_000, maxBytes: Number.MAX_SAFE_INTEGER })).map((result) => [result.taskUid, result]),
  );
  for (const [number, said] of spoken.attempts) {
    const assignment = assignmentOf(number);
    const key = toKey(assignment);
    const isAtLeast = (step: Said) => ORDER.indexOf(said) >= ORDER.indexOf(step);
    if (said === 'revoked' || said === 'acked') {
      expect(attempts.isSettled(key)).toBe(true);
      expect([results.has(key), attempts.started.has(key), attempts.queued.has(key)]).toEqual([false, false, false]);
      continue;
    }
    expect(attempts.has(key)).toBe(true);
    if (isAtLeast('started')) expect(attempts.queued.has(key)).toBe(false);
    // The next step may have been durable without a word.
    if (isAtLeast('result') && !attempts.isSettled(key)) {
      const stdout = `${number} `.repeat((number * 53) % 6000);
      expect(found.get(assignment.taskUid)).toMatchObject({ exitCode: number % 100, stdout, fencingToken: number });
    }
  }
}
