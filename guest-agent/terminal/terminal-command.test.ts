import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseReport, quote } from './terminal-command.ts';

describe('quote', () => {
  it.each(['', 'plain', "it's", '$HOME `id` "x" \\ * ;', "'''", 'two\nlines', '-n'])('brings %j through a shell unchanged', (word) => {
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })).toBe(word);
  });
});

describe('parseReport', () => {
  it.each([
    { line: '12 /dev/pts/3\n', want: { sessionId: 12, device: '/dev/pts/3' } },
    { line: '12 /dev/pts/3', want: undefined },
    { line: '12 not a tty\n', want: undefined },
    { line: '', want: undefined },
  ])('of $line', ({ line, want }) => {
    expect(parseReport(line)).toEqual(want);
  });
});
