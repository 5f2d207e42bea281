import { describe, expect, it } from 'vitest';
import { BenchError } from '../harness/operation.ts';
import { figuresOf } from './figures.ts';

describe('figures of one experiment', () => {
  it('makes the experiment once a round, whichever figure is asked for first', async () => {
    let made = 0;
    const [cpu, wall] = figuresOf(['cpu', 'wall'], async () => ({ cpu: ++made, wall: made * 10 }));
    expect([await cpu?.run(), await wall?.run()]).toEqual([1, 10]);
    expect([await wall?.run(), await cpu?.run()]).toEqual([20, 2]);
    expect(made).toBe(2);
  });

  it('does not read a figure that the experiment did not give', async () => {
    const [cpu] = figuresOf(['cpu'], async () => ({}));
    await expect(cpu?.run()).rejects.toThrow(BenchError);
  });
});
