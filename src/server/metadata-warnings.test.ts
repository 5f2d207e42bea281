import { describe, expect, it } from 'vitest';
import type { KindObject, ObjectMeta } from '#api/meta.ts';
import { finalizerWarnings, withUniqueOwners } from './metadata-warnings.ts';

const object = (metadata: Partial<ObjectMeta>) => ({ apiVersion: 'v1', kind: 'Box', metadata }) as KindObject;
const owner = (uid: string, name = 'x') => ({ apiVersion: 'v1', kind: 'Box', name, uid });

describe('finalizerWarnings', () => {
  const named = (warnings: readonly string[]) => warnings.map((text) => /^metadata.finalizers: "([^"]+)": prefer a domain/.exec(text)?.[1]);

  it.each<[what: string, finalizers: string[] | undefined, before: string[] | undefined, want: string[]]>([
    ['none', undefined, undefined, []],
    ['one with a domain', ['a.b/c'], undefined, []],
    ["Kubernetes' own", ['foregroundDeletion', 'orphan', 'kubernetes'], undefined, []],
    ['what is no name at all', ['no domain'], undefined, []],
    ['plain ones, each once and sorted', ['b', 'a', 'b'], undefined, ['a', 'b']],
    ['a plain one that was there', ['a', 'b'], ['a'], ['b']],
  ])('%s', (_, finalizers, before, want) => {
    const next = object(finalizers ? { finalizers } : {});
    expect(named(finalizerWarnings(next, before && object({ finalizers: before })))).toEqual(want);
  });
});

describe('withUniqueOwners', () => {
  it('leaves an object alone whose owners differ', () => {
    const warnings: string[] = [];
    for (const owners of [undefined, [], [owner('1')], [owner('1'), owner('2')]]) {
      const given = object(owners ? { ownerReferences: owners } : {});
      expect(withUniqueOwners(given, warnings)).toBe(given);
    }
    expect(warnings).toEqual([]);
  });

  it('keeps the first of each owner and says which came twice', () => {
    const warnings: string[] = [];
    const given = object({ ownerReferences: [owner('1', 'a'), owner('2'), owner('1', 'b'), owner('1', 'c')] });
    expect(withUniqueOwners(given, warnings, ' later').metadata.ownerReferences).toEqual([owner('1', 'a'), owner('2')]);
    expect(warnings).toEqual([expect.stringMatching(/^.metadata.ownerReferences contains duplicate entries later;.* observed: 1$/)]);
    expect(given.metadata.ownerReferences).toHaveLength(4);
  });
});
