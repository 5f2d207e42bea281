import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boxKey as key } from './box.fixture.ts';
import { Delays } from './delays.ts';

it('gives keys back in the order of their times', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(10_000), { maxLength: 300 }), (times) => {
      const delays = new Delays();
      for (const at of times) delays.put(key(`k${at}`), at);
      const want = times.sort((a, b) => a - b).map((at) => `k${at}`);
      expect(delays.takeDue(10_000).map(({ name }) => name)).toEqual(want);
      expect(delays.earliest()).toBeUndefined();
    }),
  );
});

it('does not grow with a far deadline that every pass sets again', () => {
  const delays = new Delays();
  for (let i = 0; i < 1_000; i++) {
    delays.put(key('a'), 1e12 + i);
    delays.drop(key('a'));
  }
  expect(delays.size).toBeLessThan(100);
  expect(delays.earliest()).toBeUndefined();
});

it('knows the earliest of what is left', () => {
  const delays = new Delays();
  delays.put(key('a'), 1);
  delays.put(key('b'), 2);
  delays.drop(key('a'));
  expect(delays.earliest()).toBe(2);
});
