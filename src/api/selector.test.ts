import { describe, expect, it } from 'vitest';
import type { KindObject } from './meta.ts';
import { fieldValue, matchesFields, parseFieldSelector } from './selector.ts';

function box(rest: Partial<KindObject> = {}): KindObject {
  const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' };
  return { apiVersion: 'test/v1', kind: 'Box', metadata, ...rest };
}

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
    expect(matchesFields(parseFieldSelector(selector, FIELDS), box(rest))).toBe(want);
  });

  it.each([
    ['spec.other=a', 'field label not supported: spec.other'],
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['metadata.name=a,x', "invalid selector: 'metadata.name=a,x'; can't understand 'x'"],
    ['spec.team=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['spec.team=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['spec.team=\\\\a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['spec.team=a=b', 'invalid field selector: unescaped character in value: ='],
  ])('refuses %s', (selector, message) => {
    expect(() => parseFieldSelector(selector, FIELDS)).toThrow(message);
  });

  it('sees text in scalars and nothing in lists, maps and nulls', () => {
    const object = box({ spec: { flag: false, list: [1], map: {}, none: null } });
    expect(['spec.flag', 'spec.list', 'spec.map', 'spec.none', 'spec.flag.deeper'].map((path) => fieldValue(object, path))).toEqual([
      'false',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
