import { expect, it } from 'vitest';
import { afterClosedPipe } from './closed-pipe.ts';

it.each([
  { line: 'get tasks -w', code: 130, want: 0 },
  { line: '-n other get tasks', code: 130, want: 0 },
  { line: 'board -w', code: 130, want: 0 },
  { line: 'get task nothing', code: 1, want: 1 },
  { line: 'up -f team.yaml', code: 130, want: 141 },
  { line: 'up -f team.yaml', code: 0, want: 0 },
  { line: 'apply -f team.yaml', code: 130, want: 141 },
])('$line that ended with $code ends with $want', ({ line, code, want }) => {
  expect(afterClosedPipe(line.split(' '), code)).toBe(want);
});
