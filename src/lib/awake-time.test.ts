import { expect, it } from 'vitest';
import { AwakeTime, awakeMs } from './awake-time.ts';

it('counts the time of a process that runs, and little of the time in which it did not', () => {
  let nowMs = 100;
  const time = new AwakeTime(() => nowMs);
  expect(time.look()).toBe(0);
  for (let second = 0; second < 60; second += 1) {
    nowMs += 1_000;
    time.look();
  }
  expect(time.look()).toBe(60_000);
  nowMs += 3_600_000;
  expect(time.look()).toBe(65_000);
  nowMs += 1;
  expect(time.look()).toBe(65_001);
});

it('of this process never goes back', () => {
  const looks = [awakeMs(), awakeMs(), awakeMs()];
  expect(looks).toEqual(looks.toSorted((a, b) => a - b));
});
