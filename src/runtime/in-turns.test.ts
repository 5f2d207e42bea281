import { describe, expect, it } from 'vitest';
import { countTurns } from './count-turns.fixture.ts';
import { inTurns } from './in-turns.ts';

const numbers = Array.from({ length: 1_000 }, (_, index) => index);

describe('work in turns', () => {
  it('is done for each, begun in order, and never keeps others from their turn', async () => {
    const turns = countTurns();
    const begun: number[] = [];
    await inTurns(numbers, async (number) => {
      turns.note();
      begun.push(number);
    });
    expect(begun).toEqual(numbers);
    expect(turns.end()).toBeLessThan(100);
  });

  it('that fails ends with its failure, when what was begun with it has ended, and nothing more is begun', async () => {
    let [running, begun] = [0, 0];
    const work = async (number: number) => {
      running += 1;
      begun += 1;
      await new Promise(setImmediate);
      running -= 1;
      if (number === 40) throw new Error('number 40');
    };
    await expect(inTurns(numbers, work)).rejects.toThrow('number 40');
    expect(running).toBe(0);
    expect(begun).toBeLessThan(100);
  });

  it('is none where there is nothing', async () => {
    await inTurns([], () => Promise.reject(new Error('never')));
  });
});
