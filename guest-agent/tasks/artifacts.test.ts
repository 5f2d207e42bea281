import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Artifacts } from './artifacts.ts';

let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agentiso-artifacts-'));
});

afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const names = () => readdirSync(join(stateDir, 'artifacts')).sort();

it('keeps the outputs it is told to keep, whole', async () => {
  const logs = new Artifacts(stateDir, (text) => expect.unreachable(text)).open({ taskUid: 't', attempt: 2 });
  for (let index = 0; index < 100; index += 1) {
    logs.write('stdout', Buffer.from(`out ${index}\n`));
    logs.write('stderr', Buffer.from('err'));
  }
  await logs.end(['stdout']);
  expect(names()).toEqual(['t-2.out']);
  expect(readFileSync(join(stateDir, 'artifacts/t-2.out'), 'utf8')).toBe(
    Array.from({ length: 100 }, (_, index) => `out ${index}\n`).join(''),
  );
});

it('removes the oldest when the folder is over its size', async () => {
  const artifacts = new Artifacts(stateDir, (text) => expect.unreachable(text), 250);
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const logs = artifacts.open({ taskUid: 't', attempt });
    logs.write('stdout', Buffer.alloc(100));
    await logs.end(['stdout']);
    const path = join(stateDir, `artifacts/t-${attempt}.out`);
    utimesSync(path, attempt, attempt);
  }
  expect(names()).toEqual(['t-3.out', 't-4.out']);
});

it('costs nothing but the log when the disk does not take it', async () => {
  const problems: string[] = [];
  const artifacts = new Artifacts('/proc/nowhere', (text) => problems.push(text));
  const logs = artifacts.open({ taskUid: 't', attempt: 1 });
  logs.write('stdout', Buffer.from('x'));
  await logs.end(['stdout']);
  expect(problems.length).toBeGreaterThan(0);
});
