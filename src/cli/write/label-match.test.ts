import { expect, it } from 'vitest';
import { UsageError } from '../usage-error.ts';
import { labelMatcher } from './label-match.ts';

it.each([
  { selector: 'a=1', labels: { a: '1' }, want: true },
  { selector: 'a==1', labels: { a: '2' }, want: false },
  { selector: 'a=', labels: { a: '' }, want: true },
  { selector: 'a!=1', labels: {}, want: true },
  { selector: 'a!=1', labels: { a: '1' }, want: false },
  { selector: 'a in (1, 2),b', labels: { a: '2', b: '' }, want: true },
  { selector: 'a in (1,2),b', labels: { a: '2' }, want: false },
  { selector: 'a notin (1,2)', labels: { a: '3' }, want: true },
  { selector: 'a notin (1,2)', labels: {}, want: true },
  { selector: '!a', labels: {}, want: true },
  { selector: '!a', labels: { a: '1' }, want: false },
  { selector: 'toString', labels: {}, want: false },
  { selector: 'app.kubernetes.io/name=x', labels: { 'app.kubernetes.io/name': 'x' }, want: true },
  { selector: '', labels: {}, want: true },
])('$selector of $labels is $want', ({ selector, labels, want }) => {
  expect(labelMatcher(selector)(labels)).toBe(want);
});

it.each(['a in', 'a b', 'a in (1'])('refuses %j', (selector) => {
  expect(() => labelMatcher(selector)).toThrow('unable to parse requirement');
});

it('is the mistake of whoever wrote the command', () => {
  expect(() => labelMatcher('=1')).toThrow(UsageError);
});
