import { describe, expect, it } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

const parse = (...argv: string[]) => parseOptions(argv, () => 99);

describe('options', () => {
  it('needs only a name', () => {
    expect(parse('store')).toEqual({
      name: 'store',
      rounds: undefined,
      quick: false,
      write: false,
      only: [],
      seed: 99,
      subject: undefined,
    });
  });

  it.each([
    { name: 'no name', argv: [] },
    { name: 'two names', argv: ['store', 'relay'] },
    { name: 'unknown flag', argv: ['store', '--fast'] },
    { name: 'rounds that are no number', argv: ['store', '--rounds', 'many'] },
    { name: 'too few rounds for a verdict', argv: ['store', '--rounds', '19'] },
    { name: 'publishing a quick run', argv: ['store', '--quick', '--write'] },
    { name: 'publishing a stand-in', argv: ['store', '--subject', 'x.ts', '--write'] },
    { name: 'publishing a part', argv: ['store', '--only', 'watch', '--write'] },
  ])('refuses $name', ({ argv }) => expect(() => parse(...argv)).toThrow(UsageError));

  it('lets a quick run have few rounds', () => {
    expect(parse('store', '--quick', '--rounds', '2')).toMatchObject({ quick: true, rounds: 2 });
  });
});
