import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_ARTIFACT_BYTES } from '#protocol/control.ts';
import { artifactHandlers } from './artifact-handlers.ts';
import { Artifacts } from './artifacts.ts';

let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agentiso-artifacts-'));
});

afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const names = () => readdirSync(join(stateDir, 'artifacts')).sort();
const open = (maxFolderBytes?: number) => new Artifacts(stateDir, (text) => expect.unreachable(text), maxFolderBytes);

async function read(
  name: 'stdout' | 'stderr',
  taskUid = 't',
  attempt = 2,
): Promise<{ readonly bytes: Buffer; readonly sizeBytes: number }> {
  const content = new PassThrough();
  const bytes = buffer(content);
  const { artifactRead } = artifactHandlers({ stateDir });
  const { sizeBytes } = await artifactRead({ taskUid, attempt, name }, { signal: new AbortController().signal, up: {}, down: { content } });
  content.end();
  return { bytes: await bytes, sizeBytes };
}

it('keeps the outputs it is told to keep, whole, and gives them to who asks', async () => {
  const logs = open().open({ taskUid: 't', attempt: 2 });
  for (let index = 0; index < 100; index += 1) {
    await logs.write('stdout', Buffer.from(`out ${index}\n`));
    await logs.write('stderr', Buffer.from('err'));
  }
  const text = Array.from({ length: 100 }, (_, index) => `out ${index}\n`).join('');
  expect(await logs.end(['stdout'])).toEqual([{ name: 'stdout', sizeBytes: text.length }]);
  expect(names()).toEqual(['t-2.out']);
  expect(readFileSync(join(stateDir, 'artifacts/t-2.out'), 'utf8')).toBe(text);
  expect(await read('stdout')).toEqual({ bytes: Buffer.from(text), sizeBytes: text.length });
  await expect(read('stderr')).rejects.toMatchObject({ code: 'NotFound' });
  await expect(read('stdout', '../artifacts/t')).rejects.toMatchObject({ code: 'Invalid' });
});

it('follows nothing that was put in the place of a log', async () => {
  writeFileSync(join(stateDir, 'secret'), 'secret');
  const logs = open().open({ taskUid: 't', attempt: 2 });
  await logs.write('stdout', Buffer.from('x'));
  await logs.end(['stdout']);
  rmSync(join(stateDir, 'artifacts/t-2.out'));
  symlinkSync('../secret', join(stateDir, 'artifacts/t-2.out'));
  await expect(read('stdout')).rejects.toMatchObject({ code: 'NotFound' });
});

it('holds back who writes faster than the disk, and keeps every byte up to the limit', async () => {
  const logs = open().open({ taskUid: 't', attempt: 2 });
  const chunk = Buffer.alloc(1_000_000, 'x');
  let waits = 0;
  for (let written = 0; written < MAX_ARTIFACT_BYTES + 3_000_000; written += chunk.length) {
    const full = logs.write('stdout', chunk);
    if (full !== undefined) waits += 1;
    await full;
  }
  expect(waits).toBeGreaterThan(0);
  expect(await logs.end(['stdout'])).toEqual([{ name: 'stdout', sizeBytes: MAX_ARTIFACT_BYTES }]);
  expect(statSync(join(stateDir, 'artifacts/t-2.out')).size).toBe(MAX_ARTIFACT_BYTES);
});

it('removes the oldest when the folder is over its size', async () => {
  const artifacts = open(250);
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const logs = artifacts.open({ taskUid: 't', attempt });
    await logs.write('stdout', Buffer.alloc(100));
    await logs.end(['stdout']);
    const path = join(stateDir, `artifacts/t-${attempt}.out`);
    if (existsSync(path)) utimesSync(path, attempt, attempt);
  }
  expect(names()).toEqual(['t-3.out', 't-4.out']);
});

it('removes what nobody waits for any more', async () => {
  const artifacts = open();
  for (const taskUid of ['t', 'u-1']) {
    const logs = artifacts.open({ taskUid, attempt: 2 });
    await logs.write('stdout', Buffer.from('x'));
    await logs.write('stderr', Buffer.from('x'));
    await logs.end(['stdout', 'stderr']);
  }
  await artifacts.removeWhere(({ taskUid, attempt }) => taskUid === 'u-1' && attempt === 2);
  expect(names()).toEqual(['t-2.err', 't-2.out']);
  await artifacts.remove({ taskUid: 't', attempt: 2 });
  expect(names()).toEqual([]);
});

it('costs nothing but the log when the disk does not take it', async () => {
  const problems: string[] = [];
  const artifacts = new Artifacts('/proc/nowhere', (text) => problems.push(text));
  const logs = artifacts.open({ taskUid: 't', attempt: 1 });
  await logs.write('stdout', Buffer.from('x'));
  expect(await logs.end(['stdout'])).toEqual([]);
  expect(problems.length).toBeGreaterThan(0);
});
