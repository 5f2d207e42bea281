import { describe, expect, it } from 'vitest';
import { differences, Pairs } from './differences.ts';

const answer = (body: unknown, status = 200) => ({ status, headers: {}, body });
const compare = (want: unknown, got: unknown, pairs = new Pairs()) => differences(answer(want), answer(got), { pairs });

describe('differences', () => {
  it('finds none between equal answers, whatever the order of keys', () => {
    expect(compare({ a: 1, b: [null, 'x'] }, { b: [null, 'x'], a: 1 })).toEqual([]);
  });

  it.each([
    ['another value', { a: { b: 1 } }, { a: { b: 2 } }, 'body.a.b'],
    ['a value that is absent', { a: 1 }, {}, 'body.a'],
    ['a value too many', {}, { a: null }, 'body.a'],
    ['a longer list', [1], [1, 2], 'body.1'],
    ['a list for an object', {}, [], 'body'],
    ['null for an object', {}, null, 'body'],
  ])('finds %s', (_name, want, got, path) => {
    expect(compare(want, got)).toEqual([expect.stringMatching(new RegExp(`^${path}\n`))]);
  });

  it('says in one line that the status differs', () => {
    expect(differences(answer({}), answer({ kind: 'Status', reason: 'NotFound', message: 'x' }, 404), { pairs: new Pairs() })).toEqual([
      'answer\n      want 200 {}\n      got  404 NotFound "x"',
    ]);
  });

  it('takes placeholders as equal where they stand for each other, whatever their numbers', () => {
    const pairs = new Pairs();
    expect(compare('<rv-1>', '<rv-7>', pairs)).toEqual([]);
    expect(compare('<rv-2>', '<rv-8>', pairs)).toEqual([]);
    expect(compare('the version is <rv-1>', 'the version is <rv-7>', pairs)).toEqual([]);
  });

  it.each([
    ['a version that should have changed', '<rv-2>', '<rv-7>'],
    ['a version that should not have changed', '<rv-1>', '<rv-8>'],
    ['a version for a uid', '<uid-1>', '<rv-9>'],
  ])('finds %s', (_name, want, got) => {
    const pairs = new Pairs();
    expect(compare('<rv-1>', '<rv-7>', pairs)).toEqual([]);
    expect(compare(want, got, pairs)).toHaveLength(1);
  });

  it('leaves the wording out where a step says so, but nothing else', () => {
    const step = { name: 'x', request: { method: 'GET', path: '/' }, compare: 'reason' } as const;
    const said = (message: string, reason: string) => answer({ kind: 'Status', message, reason }, 400);
    expect(differences(said('a', 'BadRequest'), said('b', 'BadRequest'), { step, pairs: new Pairs() })).toEqual([]);
    expect(differences(said('a', 'BadRequest'), said('b', 'Invalid'), { step, pairs: new Pairs() })).toHaveLength(1);
  });
});
