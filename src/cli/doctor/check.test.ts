import { describe, expect, it } from 'vitest';
import { type Check, ok, runChecks } from './check.ts';

const check = (name: string, look: Check['look']): Check => ({ name, isNeeded: false, purpose: 'x', look });

describe('runChecks', () => {
  it('tells what each found, in their order, whatever one of them does', async () => {
    const results = await runChecks(
      [
        check('late', () => new Promise(() => {})),
        check('bug', async () => {
          throw new Error('a bug');
        }),
        check('good', async () => ok('1.2')),
      ],
      20,
    );
    expect(results.map(({ name, state, detail }) => `${name} ${state}: ${detail}`)).toEqual([
      'late broken: no answer within 0.02 s',
      'bug broken: a bug',
      'good ok: 1.2',
    ]);
  });
});
