/** What must hold for any configurations, whatever their fields. fast-check prints the seed of a failure. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject } from '#lib/json.ts';
import type { KindObject } from '../meta.ts';
import { applyConfig } from './apply.ts';
import { compare } from './compare.ts';
import { intersection, isEmpty } from './field-set.ts';
import { typeOf } from './field-type.ts';
import { by, SCHEMA, type TeamSpec, team } from './fields.fixture.ts';
import { isSameApplied } from './same-applied.fixture.ts';
import { setOfValue } from './set-of-value.ts';

const TYPE = typeOf(SCHEMA);
const word = fc.constantFrom('x', 'y', 'z');
const names = fc.uniqueArray(word, { maxLength: 3 });

const members = fc.uniqueArray(fc.record({ name: word, weight: fc.nat(2), tags: names }, { requiredKeys: ['name'] }), {
  selector: ({ name }) => name,
  maxLength: 3,
});

const specs: fc.Arbitrary<TeamSpec> = fc.record(
  {
    leader: word,
    replicas: fc.nat(2),
    size: fc.oneof(fc.nat(1), word),
    budget: fc.record({ agents: fc.nat(1), cost: fc.nat(1) }, { requiredKeys: [] }),
    ref: fc.record({ kind: word, name: word }, { requiredKeys: [] }),
    members,
    skills: names,
    args: fc.array(word, { maxLength: 2 }),
    env: fc.dictionary(fc.constantFrom('A', 'B', '__proto__'), word, { maxKeys: 2, noNullPrototype: true }),
    free: fc.dictionary(
      word,
      fc.oneof(fc.nat(1), fc.array(word, { maxLength: 1 }), fc.dictionary(word, word, { maxKeys: 1, noNullPrototype: true })),
      {
        maxKeys: 2,
        noNullPrototype: true,
      },
    ),
  },
  { requiredKeys: [] },
);

const steps = fc.array(fc.record({ manager: fc.constantFrom('a', 'b', 'c'), spec: specs }), { maxLength: 4 });

function apply(live: KindObject | undefined, spec: TeamSpec, manager: string, force = true): KindObject {
  return applyConfig({ schema: SCHEMA, live, config: team(spec), writer: by(manager, 1), force });
}

function history(applied: readonly { manager: string; spec: TeamSpec }[]): KindObject | undefined {
  return applied.reduce<KindObject | undefined>((live, { manager, spec }) => apply(live, spec, manager), undefined);
}

/** Containers that nothing is left of become null, for defaulting to remove: they say no more than absent ones. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const full = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(full.filter(([, member]) => !isNothing(member)));
}

function asSpec(value: unknown): TeamSpec {
  return isObject(value) ? value : {};
}

function isNothing(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

describe('whatever was applied before', () => {
  test('applying the same again changes nothing', () => {
    fc.assert(
      fc.property(steps, specs, (applied, spec) => {
        // A container that is emptied by pruning is null, even if the configuration says that it is empty; so upstream.
        const full = { leader: 'x', ...asSpec(withoutEmpty(spec)) };
        const once = apply(history(applied), full, 'a');
        expect(isSameApplied(once, apply(once, full, 'a', false))).toBe(true);
      }),
    );
  });

  test('a forced apply makes every field of the configuration equal to it', () => {
    fc.assert(
      fc.property(steps, specs, (applied, spec) => {
        const next = apply(history(applied), spec, 'a');
        const mine = setOfValue(TYPE, team(spec));
        const { added, modified } = compare(TYPE, withoutEmpty(next), withoutEmpty(team(spec)));
        expect(isEmpty(intersection(mine, added)) && isEmpty(intersection(mine, modified))).toBe(true);
      }),
    );
  });

  test('the record of an applier is what it applied last', () => {
    fc.assert(
      fc.property(steps, specs, (applied, spec) => {
        const next = apply(history(applied), spec, 'a');
        const mine = next.metadata.managedFields?.find(({ manager }) => manager === 'a')?.fieldsV1 ?? {};
        expect(mine).toEqual(setOfValue(TYPE, { spec }));
      }),
    );
  });
});

describe('two managers', () => {
  test('with different fields never conflict', () => {
    fc.assert(
      fc.property(specs, specs, (one, two) => {
        const other = Object.fromEntries(Object.entries(two).filter(([field]) => !(field in one)));
        const both = apply(apply(undefined, one, 'a', false), other, 'b', false);
        expect(both.spec).toEqual({ ...one, ...other });
      }),
    );
  });

  test('an applier that drops everything takes exactly what only it owned', () => {
    fc.assert(
      fc.property(specs, specs, (one, two) => {
        const shared = apply(apply(undefined, one, 'a'), two, 'b');
        const left = apply(shared, {}, 'a');
        const alone = setOfValue(TYPE, team(two));
        const kept = setOfValue(TYPE, withoutEmpty(left));
        // All that the other owns is still there, as it was.
        const { added, removed, modified } = compare(TYPE, shared, left);
        expect([added, removed, modified].every((set) => isEmpty(intersection(set, alone)))).toBe(true);
        // What is left below the leaves that the other owns is nobody else's.
        const lost = setOfValue(TYPE, team(one));
        const { added: surplus } = compare(TYPE, team(two), withoutEmpty(left));
        expect(isEmpty(intersection(intersection(kept, lost), surplus))).toBe(true);
      }),
    );
  });
});
