import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalJson, type JsonObject } from '#lib/json.ts';
import { mergeEdit } from './merge.ts';

const scalar = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b'), fc.boolean());
const named = fc
  .uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), size: scalar }, { requiredKeys: ['name'] }))));
const value: fc.Arbitrary<JsonObject> = fc.record(
  {
    plain: scalar,
    list: fc.array(scalar, { maxLength: 2 }),
    named,
    map: fc.dictionary(fc.constantFrom('p', 'q', 'r'), scalar, { maxKeys: 3 }),
  },
  { requiredKeys: [] },
);

describe('mergeEdit', () => {
  it('is the edit when nothing else happened', () => {
    fc.assert(
      fc.property(value, value, (base, edit) => {
        expect(mergeEdit(base, edit, base)).toEqual({ value: edit, conflicts: [] });
      }),
    );
  });

  it('is the current state when nothing was edited', () => {
    fc.assert(
      fc.property(value, value, (base, current) => {
        expect(mergeEdit(base, base, current)).toEqual({ value: current, conflicts: [] });
      }),
    );
  });

  it('is what both wanted when both did the same', () => {
    fc.assert(
      fc.property(value, value, (base, both) => {
        expect(mergeEdit(base, both, both)).toEqual({ value: both, conflicts: [] });
      }),
    );
  });

  it('keeps both changes when they touch different fields', () => {
    fc.assert(
      fc.property(value, value, value, (base, edited, changed) => {
        const mine = ['plain', 'map'];
        const pick = (from: JsonObject, keys: readonly string[]) =>
          Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
        const theirs = ['list', 'named'];
        const edit = { ...pick(base, theirs), ...pick(edited, mine) };
        const current = { ...pick(base, mine), ...pick(changed, theirs) };
        const merged = mergeEdit(base, edit, current);
        expect(merged.conflicts).toEqual([]);
        expect(equalJson(merged.value, { ...pick(edited, mine), ...pick(changed, theirs) })).toBe(true);
      }),
    );
  });

  it('takes every field from one of the three sides, and names each one that both changed differently', () => {
    fc.assert(
      fc.property(value, value, value, (base, edit, current) => {
        const { value: merged, conflicts } = mergeEdit(base, edit, current);
        for (const key of ['plain', 'list']) {
          const [was, mine, theirs] = [base[key], edit[key], current[key]];
          const isConflict = !equalJson(mine, was) && !equalJson(theirs, was) && !equalJson(mine, theirs);
          expect(conflicts.includes(key)).toBe(isConflict);
          if (!isConflict) expect((merged as JsonObject)[key]).toEqual(equalJson(mine, was) ? theirs : mine);
        }
      }),
    );
  });

  it.each([
    {
      name: 'names the field deep inside, entries of a list by their name',
      base: { spec: { roles: [{ name: 'a', count: 1, image: 'x' }] } },
      edit: { spec: { roles: [{ name: 'a', count: 2, image: 'x' }] } },
      current: { spec: { roles: [{ name: 'a', count: 3, image: 'y' }] } },
      want: { value: { spec: { roles: [{ name: 'a', count: 3, image: 'y' }] } }, conflicts: ['spec.roles.a.count'] },
    },
    {
      name: 'merges named entries by name, in the order of the edit, new ones of the other side last',
      base: [{ name: 'a' }, { name: 'b' }],
      edit: [{ name: 'c' }, { name: 'b', n: 1 }, { name: 'a' }],
      current: [{ name: 'a', m: 2 }, { name: 'd' }, { name: 'b' }],
      want: { value: [{ name: 'c' }, { name: 'b', n: 1 }, { name: 'a', m: 2 }, { name: 'd' }], conflicts: [] },
    },
    {
      name: 'removes the entry that one side removed and the other left alone',
      base: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
      edit: [{ name: 'a' }, { name: 'c' }],
      current: [{ name: 'a' }, { name: 'b' }],
      want: { value: [{ name: 'a' }], conflicts: [] },
    },
    {
      name: 'reports an entry that one side removed and the other changed',
      base: { roles: [{ name: 'a', n: 1 }, { name: 'b' }] },
      edit: { roles: [{ name: 'b' }] },
      current: { roles: [{ name: 'a', n: 2 }, { name: 'b' }] },
      want: { value: { roles: [{ name: 'b' }, { name: 'a', n: 2 }] }, conflicts: ['roles.a'] },
    },
    {
      name: 'reports plain lists that both changed',
      base: { tags: ['a'] },
      edit: { tags: ['a', 'b'] },
      current: { tags: ['c'] },
      want: { value: { tags: ['c'] }, conflicts: ['tags'] },
    },
    {
      name: 'merges maps that both added',
      base: {},
      edit: { labels: { a: '1' } },
      current: { labels: { b: '2' } },
      want: { value: { labels: { b: '2', a: '1' } }, conflicts: [] },
    },
    {
      name: 'does not lose an entry whose name stands twice in the edit: that is for validation to refuse',
      base: { roles: [{ name: 'a' }] },
      edit: { roles: [{ name: 'a' }, { name: 'a', count: 2 }] },
      current: { roles: [{ name: 'a' }, { name: 'b' }] },
      want: { value: { roles: [{ name: 'a' }, { name: 'b' }] }, conflicts: ['roles'] },
    },
  ])('$name', ({ base, edit, current, want }) => {
    expect(mergeEdit(base, edit, current)).toEqual(want);
  });
});
