import { describe, expect, it } from 'vitest';
import { editRevision, encodeTask, makeTask, titleOf, withRevision } from './objects.ts';

describe('the benchmark object', () => {
  it('is about 1.4 KB as JSON, whatever its index and revision', () => {
    const sizes = [encodeTask(0, 0), encodeTask(99_999, 12_345_678), encodeTask(500, 7)].map(({ length }) => length);
    for (const size of sizes) expect(Math.abs(size - 1_400)).toBeLessThan(60);
  });

  it('changes its bytes with every revision, the original left alone', () => {
    const task = makeTask(1);
    expect(withRevision(task, 2)).not.toEqual(withRevision(task, 3));
    expect(task).toEqual(makeTask(1));
  });

  it('can be edited in its file, and says so when there is nothing to edit', () => {
    expect(editRevision(`spec:\n  title: ${titleOf(0)}\n`, 5)).toBe(`spec:\n  title: ${titleOf(5)}\n`);
    expect(() => editRevision('spec: {}\n', 5)).toThrow('no title');
  });
});
