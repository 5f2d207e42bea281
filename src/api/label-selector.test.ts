import { describe, expect, it } from 'vitest';
import { InvalidError } from '#lib/errors.ts';
import { parseLabelSelector } from './label-selector.ts';
import { matchesLabels } from './selector.ts';

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
    ['a > 1', { a: '2' }, true],
    ['a in (b,)', { a: '' }, true],
    ['a in (,b)', { a: '' }, true],
    ['in in (notin)', { in: 'notin' }, true],
    ['a=in', { a: 'in' }, true],
    ['a=,b', { a: '', b: 'x' }, true],
    ['a<3', { a: '2' }, true],
    ['a<3', { a: 'two' }, false],
    ['a<3', {}, false],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e' }, true],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e', f: '' }, false],
    ['example.com/a=b', { 'example.com/a': 'b' }, true],
    ['constructor', { a: 'b' }, false],
    ['!toString', { a: 'b' }, true],
  ])('%s on %j is %s', (selector, labels, want) => {
    expect(matchesLabels(parseLabelSelector(selector), { metadata: labels ? { labels } : {} })).toBe(want);
  });

  it.each([
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a=b)', "found ')', expected: ',' or 'end of string'"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a constructor', "unable to parse requirement: found 'constructor', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=!', "unable to parse requirement: found '!', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a=b,', "found '', expected: identifier after ','"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['a>b', `values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['a=-b', 'values[0][a]: Invalid value: "-b": a valid label must be an empty string or consist of'],
    ['a in (b,-c)', 'values[0][a]: Invalid value: "-c": a valid label must be'],
    [`a=${'b'.repeat(64)}`, 'must be no more than 63 characters'],
    ['-a=b', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'],
    ['x/y/z', 'unable to parse requirement: <nil>: Invalid value: "x/y/z": a qualified name must consist of'],
  ])('refuses %s in the words of Kubernetes', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message);
    expect(() => parseLabelSelector(selector)).toThrow(InvalidError);
  });

  it('asks for each value once, however often it is named', () => {
    expect(parseLabelSelector('a in (b,c,b)')).toEqual([{ key: 'a', operator: 'in', values: ['b', 'c'] }]);
  });
});
