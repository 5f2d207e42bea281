import { describe, expect, it } from 'vitest';
import { timeoutSecondsOf } from './task-timeout.ts';

describe('the time of an attempt', () => {
  it.each<[string, Parameters<typeof timeoutSecondsOf>[0], number]>([
    ['of a command', {}, 300],
    ['of a prompt', { prompt: 'Write it.' }, 1_800],
    ['that was asked for', { prompt: 'Write it.', timeoutSeconds: 60 }, 60],
  ])('%s', (_what, spec, seconds) => {
    expect(timeoutSecondsOf(spec)).toBe(seconds);
  });
});
