import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeldLines } from './held-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const line = (text: string) => Buffer.from(text);

it('gives lines back in order, once', () => {
  const held = new HeldLines();
  for (const text of ['a', 'b']) expect(held.hold(line(text))).toBe(true);
  expect(held.take().map(String)).toEqual(['a', 'b']);
  expect([held.take(), held.isEmpty]).toEqual([[], true]);
});

it('takes nothing after its time, until there is a daemon again', () => {
  const held = new HeldLines();
  const given: string[] = [];
  held.closeAfter(100, (lines) => void given.push(...lines.map(String)));
  held.hold(line('a'));
  vi.advanceTimersByTime(100);
  expect([given, held.hold(line('b'))]).toEqual([['a'], false]);
  expect([held.take(), held.hold(line('c'))]).toEqual([[], true]);
});

it('has no time limit once its lines were taken', () => {
  const held = new HeldLines();
  held.closeAfter(100, () => expect.unreachable());
  held.take();
  vi.advanceTimersByTime(1_000);
  expect(held.hold(line('a'))).toBe(true);
});

it('is bounded by lines and by bytes', () => {
  const [many, large] = [new HeldLines(), new HeldLines()];
  for (let count = 0; count < 256; count++) many.hold(line('x'));
  expect(many.hold(line('x'))).toBe(false);
  for (let count = 0; count < 4; count++) expect(large.hold(Buffer.alloc(4 * 1024 * 1024))).toBe(true);
  expect(large.hold(line('x'))).toBe(false);
});
