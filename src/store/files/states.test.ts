import { expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { FileState } from './state.ts';
import { FileStates } from './states.ts';

function state(version: number): FileState {
  return { version, inode: 1, size: 1, modifiedMs: 1, checksum: 1, shows: {} as KindObject };
}

it('shows a view what there was when it was taken, whatever happens since', () => {
  const states = new FileStates();
  states.set('changed', state(1));
  states.set('removed', state(1));
  const view = states.freezeView();
  states.set('changed', state(2));
  states.set('changed', state(3));
  states.set('added', state(1));
  states.delete('removed');
  const later = states.freezeView();
  states.set('changed', state(4));
  expect(['changed', 'removed', 'added'].map((id) => view.get(id)?.version)).toEqual([1, 1, undefined]);
  expect(['changed', 'removed', 'added'].map((id) => later.get(id)?.version)).toEqual([3, undefined, 1]);
  expect(states.get('changed')?.version).toBe(4);
});

it('knows the files whose objects are gone until they are gone too, or the objects back', () => {
  const states = new FileStates();
  for (const id of ['stays', 'goes', 'returns']) states.set(id, state(1));
  for (const id of ['goes', 'returns', 'never had a file']) states.setOrphaned(id, true);
  expect(states.orphans().map(([id]) => id)).toEqual(['goes', 'returns']);
  states.setOrphaned('returns', false);
  states.delete('goes');
  expect(states.orphans()).toEqual([]);
});
