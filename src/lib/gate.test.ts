import { expect, it } from 'vitest';
import { Gate } from './gate.ts';

it('lets in as many as there is room for, and those who are in as often as they ask', () => {
  let limit = 2;
  const gate = new Gate(() => limit);
  expect(gate.isEmpty).toBe(true);
  expect(['a', 'b', 'a', 'c'].map((key) => gate.enter(key))).toEqual([true, true, true, false]);
  gate.leave('a');
  gate.leave('never came');
  expect(gate.isEmpty).toBe(false);
  expect(gate.enter('c')).toBe(true);
  limit = 1;
  gate.leave('b');
  expect([gate.enter('d'), gate.enter('c')]).toEqual([false, true]);
});
