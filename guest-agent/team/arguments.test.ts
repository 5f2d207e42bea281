import { describe, expect, it } from 'vitest';
import { parseArguments } from './arguments.ts';

const KINDS = { json: 'flag', from: 'text', timeout: 'number', role: 'list' } as const;

describe('parseArguments', () => {
  it('takes options anywhere, and words in their order', () => {
    const args = parseArguments(['bob', '--from', 'ann', 'a', '-b', '--timeout=5', '--json', '--role', 'x', '--role=y:2', '-'], KINDS);
    expect(args.words).toEqual(['bob', 'a', '-b', '-']);
    expect([args.text('from'), args.number('timeout'), args.flag('json'), args.list('role')]).toEqual(['ann', 5, true, ['x', 'y:2']]);
  });

  it('leaves everything behind -- alone', () => {
    const args = parseArguments(['bob', '--', '--json', '--', '--other'], KINDS);
    expect(args.words).toEqual(['bob', '--json', '--', '--other']);
    expect(args.flag('json')).toBe(false);
  });

  it.each([
    [['--nothing'], 'there is no option --nothing, but --json, --from, --timeout, --role'],
    [['--toString'], 'there is no option --toString'],
    [['--from'], '--from needs a value'],
    [['--timeout', 'soon'], '--timeout must be a whole number, not "soon"'],
    [['--timeout=-1'], '--timeout must be a whole number'],
    [['--json=yes'], '--json takes no value'],
  ])('refuses %j', (argv, problem) => {
    expect(() => parseArguments(argv, KINDS)).toThrow(problem);
  });
});
