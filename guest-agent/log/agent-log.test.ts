import { appendFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogsParams } from '#protocol/control.ts';
import { AgentLog } from './agent-log.ts';
import { MAX_LINE_CHARS } from './lines.ts';
import { readLog } from './read-log.ts';

let stateDir: string;
let log: AgentLog;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'agentiso-log-'));
  log = new AgentLog(stateDir);
});

afterEach(async () => {
  await log.close();
  await rm(stateDir, { recursive: true });
});

const stored = () => readFile(join(stateDir, 'log', 'agent.log'), 'utf8');

async function show(params: Partial<LogsParams> = {}): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of readLog(log, { follow: false, timestamps: false, ...params }, new AbortController().signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Follows until stopped; `seen` grows. */
function follow(params: Partial<LogsParams> = {}) {
  const controller = new AbortController();
  const state = { seen: '', isDone: false };
  const done = (async () => {
    for await (const chunk of readLog(log, { follow: true, timestamps: false, ...params }, controller.signal)) state.seen += String(chunk);
    state.isDone = true;
  })();
  return { state, done, stop: () => controller.abort() };
}

describe('AgentLog', () => {
  it('stores each line with its time and source', async () => {
    log.write('guest', 'one\ntwo');
    log.write('task/build', 'three\r\n\n');
    await log.flushed();
    const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
    expect(await stored()).toMatch(new RegExp(`^${time} guest one\n${time} guest two\n${time} task/build three\n${time} task/build \n$`));
  });

  it('puts pieces together, each writer for itself, and takes the rest at the end', async () => {
    const [out, err] = [log.open('task/a'), log.open('task/a')];
    const euro = Buffer.from('€uro\n');
    out.write(Buffer.concat([Buffer.from('fir'), euro.subarray(0, 1)]));
    err.write('second\nthi');
    out.write(euro.subarray(1));
    err.write('rd');
    await log.flushed();
    expect(await show()).toBe('[task/a] second\n[task/a] fir€uro\n');
    err.end();
    out.end();
    expect(await show()).toBe('[task/a] second\n[task/a] fir€uro\n[task/a] third\n');
  });

  it('cuts lines that never end', async () => {
    const writer = log.open('task/a');
    for (let i = 0; i < 5; i++) writer.write('x'.repeat(10_000));
    writer.end();
    const lines = (await show()).trimEnd().split('\n');
    expect(lines.map((line) => line.length - '[task/a] '.length)).toEqual([
      MAX_LINE_CHARS,
      MAX_LINE_CHARS,
      MAX_LINE_CHARS,
      50_000 - 3 * MAX_LINE_CHARS,
    ]);
  });

  it('drops lines rather than memory when they come too fast, and says how many', async () => {
    for (let i = 0; i < 300; i++) log.write('task/a', 'y'.repeat(10_000));
    await log.flushed();
    const text = await show();
    const [, dropped] = /\[guest\] (\d+) lines were not kept/.exec(text) ?? [];
    expect(Number(dropped)).toBeGreaterThan(100);
    expect(text.match(/\[task\/a\]/g)?.length).toBe(300 - Number(dropped));
  });

  it('begins a new file when one is full and keeps one old one', async () => {
    await log.close();
    log = new AgentLog(stateDir, { maxFileBytes: 1000 });
    for (let i = 0; i < 100; i++) {
      log.write('guest', `line ${i} ${'z'.repeat(50)}`);
      await log.flushed();
    }
    expect((await readdir(join(stateDir, 'log'))).sort()).toEqual(['agent.log', 'agent.log.1']);
    expect((await stat(join(stateDir, 'log', 'agent.log.1'))).size).toBeLessThan(1200);
    const lines = (await show()).trimEnd().split('\n');
    expect(lines.at(-1)).toContain('line 99 ');
    expect(lines.length).toBeGreaterThan(10);
  });

  it('goes on where an earlier guest of the same state stopped', async () => {
    log.write('guest', 'before');
    await log.close();
    log = new AgentLog(stateDir);
    log.write('guest', 'after');
    expect(await show()).toBe('[guest] before\n[guest] after\n');
  });

  it('writes at once when the guest crashes', async () => {
    log.write('guest', 'last words');
    log.closeNow();
    expect(await stored()).toMatch(/ guest last words\n$/);
  });
});

describe('readLog', () => {
  beforeEach(() => {
    appendFileSync(
      join(stateDir, 'log', 'agent.log'),
      [
        '2020-01-01T00:00:00.000Z guest old',
        '2020-01-01T00:00:01.000Z task/build compiling',
        '2020-01-01T00:00:02.000Z task/build-all other',
        '2020-01-01T00:00:03.000Z task/test testing a thing',
        '',
      ].join('\n'),
    );
  });

  it.each<{ name: string; params: Partial<LogsParams>; want: string }>([
    { name: 'everything', params: {}, want: '[guest] old\n[task/build] compiling\n[task/build-all] other\n[task/test] testing a thing\n' },
    { name: 'the tail', params: { tailLines: 1 }, want: '[task/test] testing a thing\n' },
    { name: 'no tail', params: { tailLines: 0 }, want: '' },
    { name: 'a longer tail than there is', params: { tailLines: 99, source: 'guest' }, want: '[guest] old\n' },
    { name: 'one source', params: { source: 'task/build' }, want: '[task/build] compiling\n' },
    {
      name: 'the tail of all tasks',
      params: { source: 'task', tailLines: 2 },
      want: '[task/build-all] other\n[task/test] testing a thing\n',
    },
    { name: 'nothing recent', params: { maxAgeMs: 1000 }, want: '' },
    { name: 'times', params: { timestamps: true, tailLines: 1 }, want: '2020-01-01T00:00:03.000Z [task/test] testing a thing\n' },
    { name: 'some bytes', params: { limitBytes: 5 }, want: '[gues' },
  ])('shows $name', async ({ params, want }) => {
    expect(await show(params)).toBe(want);
  });

  it('shows what is young enough', async () => {
    log.write('guest', 'now');
    expect(await show({ maxAgeMs: 60_000 })).toBe('[guest] now\n');
  });

  it('follows what comes, only of the source that was asked for, until it is stopped', async () => {
    const { state, done, stop } = follow({ tailLines: 1, source: 'task' });
    await vi.waitFor(() => expect(state.seen).toBe('[task/test] testing a thing\n'));
    log.write('guest', 'not this');
    log.write('task/late', 'this');
    await vi.waitFor(() => expect(state.seen).toMatch(/\n\[task\/late\] this\n$/));
    stop();
    await done;
    expect(state.seen).not.toContain('not this');
  });

  it('follows across many new files without losing or repeating a line', async () => {
    await log.close();
    log = new AgentLog(stateDir, { maxFileBytes: 2000 });
    const { state, done, stop } = follow();
    // One after the other, so that the follower can keep up: one old file is all there is.
    for (let i = 0; i < 300; i++) {
      log.write('task/count', `number ${i} `);
      await vi.waitFor(() => expect(state.seen).toContain(`number ${i} `), { interval: 1, timeout: 5000 });
    }
    stop();
    await done;
    const numbers = [...state.seen.matchAll(/number (\d+) /g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(log.generation).toBeGreaterThan(5);
  });

  it('ends when the log closes', async () => {
    const { state, done } = follow();
    await vi.waitFor(() => expect(state.seen).toContain('testing'));
    await log.close();
    await done;
    expect(state.isDone).toBe(true);
  });
});
