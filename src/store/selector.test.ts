import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { fieldValue, matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from './selector.ts';

function box(labels: Record<string, string> | undefined, rest: Partial<KindObject> = {}): KindObject {
  const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' };
  return { apiVersion: 'test/v1', kind: 'Box', metadata: labels ? { ...metadata, labels } : metadata, ...rest };
}

describe('label selectors', () => {
  it.each<[selector: string, labels: Record<string, string> | undefined, want: boolean]>([
    ['', undefined, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'b' }, true],
    ['a = b', { a: 'b' }, true],
    ['a=b', { a: 'c' }, false],
    ['a=b', undefined, false],
    ['a=', { a: '' }, true],
    ['a=', {}, false],
    ['a!=b', { a: 'c' }, true],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a in (b, c)', { a: 'd' }, false],
    ['a in ()', { a: '' }, true],
    ['a notin (b,c)', {}, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['a', { a: '' }, true],
    ['a', { b: '' }, false],
    ['!a', {}, true],
    ['! a', { a: 'x' }, false],
    ['a>3', { a: '4' }, true],
    ['a>3', { a: '3' }, false],
    ['a > -1', { a: '0' }, true],
    ['a<3', { a: '2' }, true],
    ['a<3', { a: 'two' }, false],
    ['a<3', {}, false],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e' }, true],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e', f: '' }, false],
    ['example.com/a=b', { 'example.com/a': 'b' }, true],
    ['constructor', { a: 'b' }, false],
    ['!toString', { a: 'b' }, true],
  ])('%s on %j is %s', (selector, labels, want) => {
    expect(matchesLabels(parseLabelSelector(selector), box(labels))).toBe(want);
  });

  it.each([
    ['a in (b', /parentheses do not match/],
    ['a=b)', /parentheses do not match/],
    ['a b', /"a b" is not a label key; expected for example team=a, team in \(a,b\), !team/],
    ['a=b,', /"" is not a label key/],
    ['=b', /"=b" is not a label key/],
    ['a=b c', /is not a label key/],
    ['a>b', /"a>b" is not a label key/],
    ['a=-b', /"-b" is not a label value; at most 63 letters, digits, - _ \./],
    [`a=${'b'.repeat(64)}`, /is not a label value/],
    ['a in (b c)', /"b c" is not a label value/],
  ])('refuses %s and says what would do', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message);
    expect(() => parseLabelSelector(selector)).toThrow(InvalidError);
  });

  it('asks for each value once, however often it is named', () => {
    expect(parseLabelSelector('a in (b,c,b)')).toEqual([{ key: 'a', operator: 'in', values: ['b', 'c'] }]);
  });
});

describe('field selectors', () => {
  const FIELDS = ['metadata.name', 'spec.team', 'spec.size', 'status.phase'];

  it.each<[selector: string, rest: Partial<KindObject>, want: boolean]>([
    ['metadata.name=a', {}, true],
    ['metadata.name==a', {}, true],
    ['metadata.name!=a', {}, false],
    ['spec.team=b', { spec: { team: 'b' } }, true],
    ['spec.size=3', { spec: { size: 3 } }, true],
    ['status.phase=', {}, true],
    ['status.phase!=Failed', {}, true],
    ['status.phase!=', {}, false],
    ['metadata.name=a,spec.team=b', { spec: { team: 'c' } }, false],
    ['spec.team=b\\,c', { spec: { team: 'b,c' } }, true],
    ['spec.team=b\\=c\\\\', { spec: { team: 'b=c\\' } }, true],
  ])('%s on %j is %s', (selector, rest, want) => {
    expect(matchesFields(parseFieldSelector(selector, FIELDS), box(undefined, rest))).toBe(want);
  });

  it.each([
    ['spec.other=a', 'field label not supported: spec.other; supported: metadata.name, spec.team, spec.size, status.phase'],
    ['metadata.name', 'invalid field selector: "metadata.name"; expected field=value, field==value or field!=value'],
    ['spec.team=a\\', 'invalid field selector: "spec.team=a\\\\"; expected field=value, field==value or field!=value'],
    ['spec.team=a\\b', 'invalid field selector: "spec.team=a\\\\b"; expected field=value, field==value or field!=value'],
  ])('refuses %s', (selector, message) => {
    expect(() => parseFieldSelector(selector, FIELDS)).toThrow(message);
  });

  it('sees text in scalars and nothing in lists, maps and nulls', () => {
    const object = box(undefined, { spec: { flag: false, list: [1], map: {}, none: null } });
    expect(['spec.flag', 'spec.list', 'spec.map', 'spec.none', 'spec.flag.deeper'].map((path) => fieldValue(object, path))).toEqual([
      'false',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
