import { describe, expect, it } from 'vitest';
import { planRules } from './diff.ts';
import { type Elements, NO_ELEMENTS, renderRuleset } from './ruleset.ts';

const SHAPE = 'untouched';
const have = (elements: Partial<Elements>, shape = SHAPE) => ({ shape, elements: { ...NO_ELEMENTS, ...elements } });
const want = (elements: Partial<Elements>): Elements => ({ ...NO_ELEMENTS, ...elements });

describe('a plan', () => {
  it('is nothing when the rules are as they should be', () => {
    expect(planRules(have({ egress: ['1'] }), want({ egress: ['1'] }), SHAPE)).toBeUndefined();
  });

  it.each([
    ['there is no table', undefined],
    ['the rules have another shape', have({ egress: ['1'] }, 'other')],
  ])('is the whole table when %s', (_when, found) => {
    expect(planRules(found, want({ egress: ['1'] }), SHAPE)?.text).toBe(renderRuleset(want({ egress: ['1'] })));
  });

  it('adds what is missing and deletes what is too much, maps by their key', () => {
    const plan = planRules(
      have({ team_of: ['10.99.0.2 : 1', '10.99.0.3 : 1'], open: ['5'] }),
      want({ team_of: ['10.99.0.2 : 2', '10.99.0.4 : 1'], open: ['5'] }),
      SHAPE,
    );
    expect(plan).toEqual({
      text: [
        'delete element inet agentiso team_of { 10.99.0.2, 10.99.0.3 }',
        'add element inet agentiso team_of { 10.99.0.2 : 2, 10.99.0.4 : 1 }',
        '',
      ].join('\n'),
      what: 'team_of has 2 elements too many and 2 too few',
      changes: ['delete team_of 10.99.0.2 : 1', 'delete team_of 10.99.0.3 : 1', 'add team_of 10.99.0.2 : 2', 'add team_of 10.99.0.4 : 1'],
    });
  });

  it('fills sets of ranges anew', () => {
    const plan = planRules(have({ egress_to: ['1 . 1.2.3.4', '1 . 10.0.0.0/8'] }), want({ egress_to: ['1 . 10.0.0.0/8'] }), SHAPE);
    expect(plan?.text).toBe('flush set inet agentiso egress_to\nadd element inet agentiso egress_to { 1 . 10.0.0.0/8 }\n');
    expect(plan?.changes).toBeUndefined();
    expect(planRules(have({ egress_to: ['1 . 1.2.3.4'] }), want({}), SHAPE)?.text).toBe('flush set inet agentiso egress_to\n');
  });
});
