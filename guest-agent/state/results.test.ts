import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TaskResult } from '#protocol/control.ts';
import { toLostResult } from '../tasks/run-task.ts';
import { toKey } from './attempts.ts';
import { Results, type ResultsOptions } from './results.ts';
import { assignmentOf } from './state-writer.fixture.ts';

let stateDir: string;
const opened: Results[] = [];
const warnings: string[] = [];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agentiso-results-'));
});

afterEach(async () => {
  for (const results of opened.splice(0)) await results.close();
  warnings.length = 0;
  rmSync(stateDir, { recursive: true });
});

function resultOf(number: number, stdout = ''): TaskResult {
  return {
    ...toLostResult({ seq: number, messageId: `m${number}`, assignment: assignmentOf(number) }),
    isLost: false,
    exitCode: 0,
    stdout,
  };
}

const keyOf = (number: number) => toKey(assignmentOf(number));
const SMALL = resultOf(1, 'ä');
const LARGE = resultOf(2, 'x'.repeat(20_000));

/** As the next guest on this state does: the one before may have been killed. */
function open(options: Partial<ResultsOptions> = {}): Results {
  const results = new Results(stateDir, { isSettled: () => false, warn: (text) => warnings.push(text), ...options });
  opened.push(results);
  return results;
}

const all = (results: Results) => results.read({ limit: 100, maxBytes: Number.MAX_SAFE_INTEGER });

it('of either size are there again after a crash, until they are removed', async () => {
  const results = open();
  for (const result of [SMALL, LARGE]) await results.put(result);
  expect(await all(results)).toEqual([SMALL, LARGE]);
  expect(readdirSync(join(stateDir, 'results'))).toEqual(['uid2.1.json']);
  const next = open();
  expect(await all(next)).toEqual([LARGE, SMALL]);
  for (const key of [1, 2].map(keyOf)) await next.remove(key);
  expect([next.size, next.has(keyOf(1)), await all(next)]).toEqual([0, false, []]);
  await next.put(resultOf(3));
  expect(await all(open())).toEqual([resultOf(3)]);
  expect(readdirSync(join(stateDir, 'results'))).toEqual([]);
});

it('of attempts that were settled before the crash do not come back, however often it starts', async () => {
  const results = open();
  for (const result of [SMALL, LARGE]) await results.put(result);
  const next = open({ isSettled: () => true });
  expect([next.size, await all(next)]).toEqual([0, []]);
  await next.put(resultOf(3));
  // By then nobody remembers that they were settled.
  expect(await all(open())).toEqual([resultOf(3)]);
});

it('are given as many as fit, and one in any case', async () => {
  const results = open();
  for (let number = 1; number <= 4; number += 1) await results.put(resultOf(number, 'y'.repeat(1_000)));
  const uids = async (maxBytes: number, limit = 100) => (await results.read({ limit, maxBytes })).map(({ taskUid }) => taskUid);
  expect(await uids(1)).toEqual(['uid1']);
  expect(await uids(2_600)).toEqual(['uid1', 'uid2']);
  expect(await uids(1_000_000, 3)).toEqual(['uid1', 'uid2', 'uid3']);
});

it('that somebody has spoiled are passed over, and the others are given', async () => {
  const results = open();
  for (const result of [SMALL, LARGE, resultOf(3), resultOf(4)]) await results.put(result);
  await results.close();
  const path = join(stateDir, 'results.log');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [lines[0]?.replace('uid1', 'uid1"'), ...lines.slice(1)].join('\n'));
  writeFileSync(join(stateDir, 'results', 'uid2.1.json'), '{');
  const next = open();
  expect(await all(next)).toEqual([resultOf(3), resultOf(4)]);
  expect(warnings).toEqual([expect.stringContaining('results.log line 1 is not readable')]);
});

it('take no more room the more there were of them', async () => {
  const results = open({ minCompactBytes: 20_000 });
  for (let number = 1; number <= 200; number += 1) {
    await results.put(resultOf(number, 'z'.repeat(500)));
    if (number !== 7) await results.remove(keyOf(number));
  }
  await results.close();
  expect(statSync(join(stateDir, 'results.log')).size).toBeLessThan(25_000);
  expect((await all(open())).map(({ taskUid }) => taskUid)).toContain('uid7');
  expect(existsSync(join(stateDir, 'results', 'uid7.1.json'))).toBe(false);
});
