import { describe, expect, it } from 'vitest';
import type { Merge } from '#api/types.ts';
import { Neighbours } from './neighbours.ts';

interface Words {
  readonly phase?: string;
  readonly team?: string;
  readonly target?: object;
  readonly source?: string;
  readonly generation?: number;
  readonly status?: object;
}

function merge(
  name: string,
  { phase, team = 'shop', target = { branch: 'main' }, source = 'dev', generation = 1, status }: Words = {},
): Merge {
  return {
    kind: 'Merge',
    metadata: { name, uid: name, namespace: 'default', generation },
    spec: { team, sources: [{ agent: source }], target },
    ...(phase && { status: { phase, ...status } }),
  } as unknown as Merge;
}

function around(...merges: readonly Merge[]): (changed: Merge, isDeleted?: boolean) => string[] {
  const neighbours = new Neighbours();
  for (const each of merges) neighbours.concernedBy(each, false);
  return (changed, isDeleted = false) => neighbours.concernedBy(changed, isDeleted).map(({ name }) => name);
}

describe('whom a change of a merge concerns', () => {
  const line = [merge('first', { phase: 'Merging' }), merge('second', { phase: 'Queued' }), merge('third', { phase: 'Queued' })];

  it.each(['Merged', 'Failed', 'Conflicted'])('those in line behind one that is %s', (phase) => {
    expect(around(...line)(merge('first', { phase }))).toEqual(['first', 'second', 'third']);
  });

  it('not itself where it has landed and is held', () => {
    const landed = merge('first', { phase: 'Merged' });
    Object.assign(landed.metadata, { finalizers: ['agentiso.dev/merge'] });
    expect(around(...line)(landed)).toEqual(['second', 'third']);
    expect(around(landed)(landed)).toEqual([]);
    Object.assign(landed.metadata, { deletionTimestamp: '2026-01-05T09:30:00Z' });
    expect(around(landed)(landed)).toEqual(['first']);
  });

  it('those in line behind one that is deleted', () => {
    expect(around(...line)(merge('first', { phase: 'Merging' }), true)).toEqual(['first', 'second', 'third']);
  });

  it('those who may join one that has a commit, and whoever else is on its way', () => {
    const changed = merge('first', { phase: 'Merging', status: { candidate: 'c0ffee' } });
    expect(around(...line)(changed)).toEqual(['first', 'second', 'third']);
  });

  it('everybody in line when another one is asked for', () => {
    expect(around(...line)(merge('second', { phase: 'Queued', generation: 2 }))).toEqual(['second', 'first', 'third']);
  });

  it('those to whom a new one brings work, though it is younger', () => {
    expect(around(...line)(merge('in', { target: { agent: 'dev' }, source: 'other' }))).toEqual(['in', 'first', 'second', 'third']);
  });

  it('nobody of another team', () => {
    expect(around(...line)(merge('x', { team: 'other', target: { agent: 'dev' } }))).toEqual(['x']);
  });

  it('itself alone where others see nothing of it: a new one, its place, its words', () => {
    const change = around(...line);
    expect(change(merge('new'))).toEqual(['new']);
    expect(change(merge('new', { phase: 'Pending' }))).toEqual(['new']);
    expect(change(merge('new', { phase: 'Queued', status: { position: 4 } }))).toEqual(['new']);
    expect(change(merge('new', { phase: 'Queued', status: { position: 3 } }))).toEqual(['new']);
  });

  it('as many as there are, not as many for each, when ten thousand wait for a team that is not there', () => {
    const neighbours = new Neighbours();
    const all = Array.from({ length: 10_000 }, (_, index) => `m${index}`);
    const heard = (phase?: string) =>
      all.reduce((sum, name) => sum + neighbours.concernedBy(merge(name, phase === undefined ? {} : { phase }), false).length, 0);
    expect([heard(), heard('Pending'), heard('Pending')]).toEqual([10_000, 10_000, 10_000]);
    const gone = all.reduce((sum, name) => sum + neighbours.concernedBy(merge(name, { phase: 'Pending' }), true).length, 0);
    expect(gone).toBe(10_000);
  });
});
