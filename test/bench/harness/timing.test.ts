import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { rateOf } from './timing.ts';

describe('rateOf', () => {
  it('makes every call once', async () => {
    const calls = new Set<string>();
    await rateOf(4, 3, async (writer, each) => calls.add(`${writer}/${each}`));
    expect(calls.size).toBe(12);
  });

  it('fails only after every writer has ended', async () => {
    let finished = 0;
    const rate = rateOf(3, 2, async (writer) => {
      if (writer === 0) throw new Error('refused');
      await turn();
      finished += 1;
    });
    await expect(rate).rejects.toThrow('refused');
    expect(finished).toBe(4);
  });
});
