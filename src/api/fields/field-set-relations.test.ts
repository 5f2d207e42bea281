import fc from 'fast-check';
import { expect, it } from 'vitest';
import { difference, type FieldSet, intersection, isCovered, isDisjoint, isEmpty } from './field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"n":1}');
const { node } = fc.letrec<{ node: FieldSet }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constant({}),
    fc.dictionary(fc.oneof(element, fc.constant('.')), tie('node'), { maxKeys: 3 }).map((map) => {
      const { '.': _own, ...below } = map;
      return isEmpty(below) || !('.' in map) ? below : { '.': {}, ...below };
    }),
  ),
}));
const set = fc.dictionary(element, node, { maxKeys: 3 }) as fc.Arbitrary<FieldSet>;

it('says without making a set what the difference and the intersection say', () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      expect(isCovered(a, b)).toBe(isEmpty(difference(a, b)));
      expect(isDisjoint(a, b)).toBe(isEmpty(intersection(a, b)));
    }),
  );
});

it('leaves out what it is told to', () => {
  fc.assert(
    fc.property(set, set, set, (a, b, except) => {
      const rest = difference(a, except);
      expect(isCovered(a, b, except)).toBe(isEmpty(difference(rest, b)));
      expect(isDisjoint(a, b, except)).toBe(isEmpty(intersection(rest, b)));
    }),
  );
});
