import { expect, it } from 'vitest';
import { RecentIds } from './recent-ids.ts';

it('knows the last so many, oldest first, and one that comes again stays where it is', () => {
  const ids = new RecentIds(3);
  for (const id of ['a', 'b', 'a']) ids.add(id);
  expect(ids.toArray()).toEqual(['a', 'b']);
  ids.add('c');
  ids.add('d');
  expect(ids.toArray()).toEqual(['b', 'c', 'd']);
  expect(['a', 'b', 'd'].map((id) => ids.has(id))).toEqual([false, true, true]);
  for (const id of ['c', 'e', 'f', 'a']) ids.add(id);
  expect(ids.toArray()).toEqual(['e', 'f', 'a']);
});
