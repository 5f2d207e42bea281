import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lastLine, reportRun } from './progress.ts';

describe('lastLine', () => {
  it.each([
    { text: '', want: '' },
    { text: '\n\n', want: '' },
    { text: 'one\ntwo\n', want: 'two' },
    { text: 'done\n10%\r20%', want: '20%' },
    { text: 'a\x1b[31mb\n', want: 'a^[[31mb' },
    { text: 'x'.repeat(500), want: 'x'.repeat(200) },
  ])('of $text', ({ text, want }) => {
    expect(lastLine(text)).toBe(want);
  });
});

describe('reportRun', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('says now and then how long it runs and what it wrote last, until it is over', () => {
    const said: string[] = [];
    const { onOutput, stop } = reportRun((message) => said.push(message));
    vi.advanceTimersByTime(5_000);
    onOutput(Buffer.from('compiling a\ncompi'));
    onOutput(Buffer.from('ling b'));
    vi.advanceTimersByTime(5_000);
    onOutput(Buffer.from(`${'x'.repeat(5_000)}\nlinking\n`));
    vi.advanceTimersByTime(5_000);
    stop();
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual(['running for 5 s', 'running for 10 s: compiling b', 'running for 15 s: linking']);
  });
});
