import { describe, expect, it } from 'vitest';
import type { Merge } from '#api/types.ts';
import { isWaiting, lineBefore } from './queue.ts';

/** `main`: a branch; `@x`: the repository of agent x. The number is the age, older first. */
function merge(name: string, age: number, target: string, sources: readonly string[] = [], status: object = {}): Merge {
  return {
    metadata: { name, uid: name, namespace: 'default', creationTimestamp: new Date(age * 1_000).toISOString() },
    spec: {
      team: 'shop',
      sources: sources.map((agent) => ({ agent })),
      target: target.startsWith('@') ? { agent: target.slice(1) } : { branch: target },
    },
    status,
  } as unknown as Merge;
}

const goingBefore = (of: string, all: readonly Merge[]) =>
  lineBefore(all.find(({ metadata }) => metadata.name === of) as Merge, all).map(({ metadata }) => metadata.name);

describe('the order of merges', () => {
  it('is by age where the target is the same, and there is none where it is not', () => {
    const all = [merge('b', 2, 'main'), merge('a', 1, 'main'), merge('c', 3, 'main'), merge('d', 1, 'other')];
    expect(goingBefore('c', all)).toEqual(['a', 'b']);
    expect(goingBefore('a', all)).toEqual([]);
    expect(goingBefore('d', all)).toEqual([]);
  });

  it('puts those first that bring work to a source, however young', () => {
    const all = [merge('out', 1, 'main', ['x']), merge('in', 5, '@shop-x', ['y']), merge('in-y', 9, '@y', ['z'])];
    expect(goingBefore('out', all)).toEqual(['in']);
    expect(goingBefore('in', all)).toEqual(['in-y']);
    expect(goingBefore('in-y', all)).toEqual([]);
  });

  it('leaves out what has ended or is going', () => {
    const gone = merge('g', 1, 'main');
    const all = [
      merge('a', 1, 'main', [], { phase: 'Merged' }),
      merge('b', 1, 'main', [], { phase: 'Failed' }),
      merge('c', 1, 'main', [], { phase: 'Conflicted' }),
      { ...gone, metadata: { ...gone.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      merge('d', 1, 'main', [], { phase: 'Merging' }),
      merge('e', 2, 'main'),
    ];
    expect(goingBefore('e', all)).toEqual(['d']);
    expect(all.filter(isWaiting).map(({ metadata }) => metadata.name)).toEqual(['d', 'e']);
  });

  it.each([
    { name: 'two agents', all: [merge('a', 1, '@x', ['y']), merge('b', 2, '@y', ['x'])] },
    { name: 'three agents', all: [merge('a', 1, '@x', ['z']), merge('b', 2, '@y', ['x']), merge('c', 3, '@z', ['y'])] },
    {
      name: 'age against the way of the work',
      all: [merge('a', 1, '@x', ['y']), merge('b', 2, '@x', ['w']), merge('c', 3, '@y', ['x']), merge('d', 4, '@y', ['v'])],
    },
    {
      name: 'the same with the ages turned round',
      all: [merge('a', 4, '@x', ['y']), merge('b', 3, '@x', ['w']), merge('c', 2, '@y', ['x']), merge('d', 1, '@y', ['v'])],
    },
  ])('never waits in a circle: $name', ({ all }) => {
    // Each round the first in line goes; in the end all have gone.
    let left = [...all];
    while (left.length > 0) {
      const first = left.find(({ metadata }) => goingBefore(metadata.name, left).length === 0);
      expect(first, left.map(({ metadata }) => metadata.name).join()).toBeDefined();
      left = left.filter((each) => each !== first);
    }
  });
});
