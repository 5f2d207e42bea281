import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { AuditEntry } from '#lib/audit.ts';
import { type Logger, silentLogger } from '#lib/log.ts';
import { openAuditLog } from './audit-log.ts';
import { auditLine } from './audit-log-line.ts';

const ENTRY: AuditEntry = { who: 'agent:default/a/ann', mode: 'agent', tool: 'send_message', outcome: 'ok', durationMs: 1.4 };

function world(options: { readonly maxBytes?: number } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-audit-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'state'));
  const directory = join(home, 'state', 'audit');
  const path = join(directory, 'calls.jsonl');
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (_: object, text: string) => warnings.push(text), info() {} } as unknown as Logger;
  let now = Date.parse('2026-01-02T03:04:05Z');
  const open = () => openAuditLog({ home, log, clock: { now: () => new Date(now) }, ...options });
  const lines = (file = path) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return {
    home,
    directory,
    path,
    warnings,
    open,
    lines,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

it('writes a line per call, in their order, for nobody else to read', async () => {
  const { path, directory, open, lines } = world();
  const log = open();
  log.record({ ...ENTRY, resource: 'agent/bob' });
  await log.flush();
  for (let each = 0; each < 3_000; each += 1) log.record({ ...ENTRY, tool: `tool_${each}`, outcome: 'Forbidden' });
  await log.close();
  const [first, ...rest] = lines();
  expect(first).toEqual({
    time: '2026-01-02T03:04:05.000Z',
    who: 'agent:default/a/ann',
    mode: 'agent',
    tool: 'send_message',
    resource: 'agent/bob',
    outcome: 'ok',
    duration_ms: 1,
  });
  expect(rest.map(({ tool }) => tool)).toEqual(Array.from({ length: 3_000 }, (_, each) => `tool_${each}`));
  expect([statSync(path).mode & 0o777, statSync(directory).mode & 0o777]).toEqual([0o600, 0o700]);
});

it('writes now and then, however many calls there are', async () => {
  const { path, open } = world();
  const log = open();
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const beganMs = performance.now();
  const sizes = new Set<number>();
  /** Calls come all the time, so that there are some during each write. */
  while (performance.now() - beganMs < 1_000) {
    log.record(ENTRY);
    await new Promise((resolve) => setTimeout(resolve, 1));
    sizes.add(size());
  }
  const tookMs = performance.now() - beganMs;
  await log.close();
  expect(size()).toBeGreaterThan(0);
  // Every 200 ms; one that waited for nothing would write a hundred times as often.
  expect(sizes.size).toBeLessThan(tookMs / 50);
});

it('keeps five full files beside the one that it writes to', async () => {
  const { directory, path, open, lines } = world({ maxBytes: 1_000 });
  const log = open();
  for (let each = 0; each < 60; each += 1) {
    log.record({ ...ENTRY, tool: `tool_${each}` });
    await log.flush();
  }
  await log.close();
  const files = ['.5', '.4', '.3', '.2', '.1', ''].map((suffix) => `${path}${suffix}`);
  expect(readdirSync(directory).sort()).toEqual(files.map((file) => file.slice(directory.length + 1)).sort());
  const tools = files.flatMap((file) => lines(file).map(({ tool }) => Number(tool.slice('tool_'.length))));
  expect(tools).toEqual(Array.from({ length: tools.length }, (_, at) => 60 - tools.length + at));
  for (const file of files) expect([statSync(file).size <= 1_000, statSync(file).mode & 0o777]).toEqual([true, 0o600]);
});

it('goes on after a line that a killed daemon left unfinished, and beside a file that was moved away', async () => {
  const { path, open, lines } = world();
  const first = open();
  first.record(ENTRY);
  await first.close();
  appendFileSync(path, '{"time":"2026');
  const second = open();
  second.record({ ...ENTRY, tool: 'next' });
  await second.flush();
  expect(lines().map(({ tool }) => tool)).toEqual(['send_message', 'next']);
  renameSync(path, `${path}.away`);
  second.record({ ...ENTRY, tool: 'last' });
  await second.close();
  expect(lines().map(({ tool }) => tool)).toEqual(['last']);
});

it('warns once while the disk is full, and writes what it kept when there is room', async () => {
  const { directory, path, open, lines, warnings } = world();
  mkdirSync(directory);
  symlinkSync('/dev/full', path);
  const log = open();
  for (let each = 0; each < 3; each += 1) {
    log.record({ ...ENTRY, tool: `tool_${each}` });
    await log.flush();
  }
  expect(warnings).toEqual(['the log of calls cannot be written; calls go on']);
  rmSync(path);
  log.record({ ...ENTRY, tool: 'tool_3' });
  // By itself.
  await vi.waitFor(() => expect(lines().map(({ tool }) => tool)).toEqual(['tool_0', 'tool_1', 'tool_2', 'tool_3']), { timeout: 10_000 });
  await log.close();
  expect(warnings).toHaveLength(1);
});

it('keeps a bounded part of what it cannot write, and does not make a home that is gone', async () => {
  const { home, open, path, lines } = world();
  rmSync(join(home, 'state'), { recursive: true });
  const log = open();
  for (let each = 0; each < 6_000; each += 1) log.record({ ...ENTRY, tool: `tool_${each}` });
  await log.flush();
  expect(readdirSync(home)).toEqual([]);
  mkdirSync(join(home, 'state'));
  await log.close();
  expect([lines().length, lines()[0].tool, lines().at(-1).tool]).toEqual([5_000, 'tool_1000', 'tool_5999']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('writes those who are refused for their rate once a second, and how many there were', async () => {
  const { open, lines, wait } = world();
  const log = open();
  const refused = { ...ENTRY, outcome: 'RateLimited' };
  for (let each = 0; each < 100; each += 1) log.record(refused);
  log.record({ ...refused, who: 'agent:default/a/bob' });
  wait(1_000);
  for (let each = 0; each < 10; each += 1) log.record(refused);
  log.record(ENTRY);
  log.record(ENTRY);
  await log.close();
  expect(lines().map(({ who, outcome, left_out }) => [who.slice(-3), outcome, left_out])).toEqual([
    ['ann', 'RateLimited', undefined],
    ['bob', 'RateLimited', undefined],
    ['ann', 'RateLimited', 99],
    ['ann', 'ok', 9],
    ['ann', 'ok', undefined],
  ]);
});

it('cuts what is too long for a name, and keeps everything on one line', () => {
  const line = auditLine({ ...ENTRY, resource: `task/${'\n'.repeat(4_000_000)}` }, new Date(0));
  expect([line.length < 1_000, line.indexOf('\n')]).toEqual([true, line.length - 1]);
});
