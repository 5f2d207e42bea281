import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ProcessGroups } from '../process-group.ts';
import { JobOutput, wholeCharacters } from './job-output.ts';
import { JobTable, toJobState, toSignal } from './job-table.ts';

const command = (argv: readonly string[]) => ({ argv, cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' }, groups: new ProcessGroups() });

describe('JobTable', () => {
  it('forgets a job an hour after its end, and not before', async () => {
    let now = 0;
    const table = new JobTable({ now: () => now });
    const job = await table.start(command(['true']));
    await job.ended;
    now = 3_599_999;
    expect(toJobState(table.get(1))).toMatchObject({ exitCode: 0, isRunning: false });
    now = 3_600_001;
    expect(() => table.get(1)).toThrowError('there is no job 1');
    expect((await table.start(command(['true']))).jobId).toBe(2);
  });

  it('takes no more jobs than it can keep', async () => {
    let now = 0;
    const table = new JobTable({ now: () => now, maxJobs: 2 });
    const started = await Promise.all([table.start(command(['true'])), table.start(command(['true']))]);
    await expect(table.start(command(['true']))).rejects.toMatchObject({ code: 'Unavailable' });
    await Promise.all(started.map((job) => job.ended));
    now = 4_000_000;
    expect((await table.start(command(['true']))).jobId).toBe(3);
  });

  it('has no place for a job that could not be started', async () => {
    const table = new JobTable({ maxJobs: 1 });
    await expect(table.start(command(['/no/such']))).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await table.start(command(['true']))).jobId).toBe(1);
  });
});

describe('JobOutput', () => {
  const bytes = Buffer.from('a€b');

  it('waits for the rest of a character while the job runs', () => {
    const output = new JobOutput({ bytes: 1000 });
    output.add(bytes.subarray(0, 2));
    expect(output.read(0, 1000)).toEqual({ text: 'a', next: 1 });
    output.add(bytes.subarray(2));
    expect(output.read(1, 1000)).toEqual({ text: '€b', next: 5 });
    expect(output.read(5, 1000)).toEqual({ text: '', next: 5 });
  });

  it('gives half a character away when nothing more will come', () => {
    const output = new JobOutput({ bytes: 1000 });
    output.add(bytes.subarray(0, 3));
    output.complete();
    expect(output.read(0, 1000)).toEqual({ text: 'a\ufffd', next: 3 });
  });

  it('gives at least a character however little was asked for', () => {
    const output = new JobOutput({ bytes: 1000 });
    output.add(Buffer.from('€€'));
    expect(output.read(0, 1)).toEqual({ text: '€', next: 3 });
  });

  it('keeps no more than all jobs together may, and marks the place', () => {
    const budget = { bytes: 4 };
    const output = new JobOutput(budget);
    output.add(Buffer.from('abcdef'));
    output.add(Buffer.from('gh'));
    expect(budget.bytes).toBe(0);
    expect(output.read(0, 1000)).toEqual({ text: 'abcd\n... (truncated)', next: 8 });
    output.add(Buffer.from('i'));
    expect(output.read(8, 1000)).toEqual({ text: '', next: 9 });
    output.forget();
    expect(budget.bytes).toBe(4);
  });
});

describe('wholeCharacters', () => {
  it.each([
    { text: 'abc', cut: 3, want: 3 },
    { text: 'a€', cut: 2, want: 1 },
    { text: 'a€', cut: 3, want: 1 },
    { text: 'a€', cut: 4, want: 4 },
    { text: '😀', cut: 3, want: 0 },
    { text: '😀', cut: 4, want: 4 },
    { text: 'é', cut: 1, want: 0 },
    { text: '', cut: 0, want: 0 },
  ])('of $cut bytes of $text', ({ text, cut, want }) => {
    expect(wholeCharacters(Buffer.from(text).subarray(0, cut))).toBe(want);
  });
});

describe('toSignal', () => {
  it.each(['SIGTERM', 'TERM', 'term', '15'])('takes %s', (text) => {
    expect(toSignal(text)).toBe('SIGTERM');
  });
});
