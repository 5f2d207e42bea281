import { describe, expect, it } from 'vitest';
import type { ApiObject } from '#client/resource-api.ts';
import { parseFor } from './wait-for.ts';

const object = (status: object, generation = 1): ApiObject => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name: 'x', uid: 'u', generation },
  status,
});
const ready = (status: string, more = {}) => ({
  conditions: [
    { type: 'Other', status: 'True' },
    { type: 'Ready', status, ...more },
  ],
});

describe('parseFor', () => {
  it.each([
    { text: 'condition=Ready', given: object(ready('True')), want: true },
    { text: 'condition=ready', given: object(ready('True')), want: true },
    { text: 'condition=Ready', given: object(ready('False')), want: false },
    { text: 'condition=Ready=false', given: object(ready('False')), want: true },
    { text: 'condition=Ready=Unknown', given: object(ready('Unknown')), want: true },
    { text: 'condition=Gone', given: object(ready('True')), want: false },
    { text: 'condition=Ready', given: object({}), want: false },
    { text: 'condition=Ready', given: undefined, want: false },
    { text: 'condition=Ready', given: object(ready('True', { observedGeneration: 1 }), 2), want: false },
    { text: 'condition=Ready', given: object(ready('True', { observedGeneration: 2 }), 2), want: true },
    { text: 'condition=Ready', given: object({ ...ready('True'), observedGeneration: 1 }, 2), want: false },
    { text: 'phase=Ready', given: object({ phase: 'Ready' }), want: true },
    { text: 'phase=Ready', given: object({ phase: 'Creating' }), want: false },
    { text: 'phase=Ready', given: object({}), want: false },
    { text: 'jsonpath={.status.phase}=Ready', given: object({ phase: 'Ready' }), want: true },
    { text: "jsonpath='{.status.phase}'=Ready".replaceAll("'", ''), given: object({ phase: 'Other' }), want: false },
    { text: 'jsonpath=.status.phase=Ready', given: object({ phase: 'Ready' }), want: true },
    { text: 'jsonpath={.status.count}=3', given: object({ count: 3 }), want: true },
    { text: 'jsonpath={.status.phase}', given: object({ phase: 'x' }), want: true },
    { text: 'jsonpath={.status.phase}', given: object({}), want: false },
    { text: 'jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', given: object(ready('True')), want: true },
    { text: 'delete', given: undefined, want: true },
    { text: 'delete', given: object({}), want: false },
    { text: 'create', given: object({}), want: true },
    { text: 'create', given: undefined, want: false },
  ])('$text of $given.status is $want', ({ text, given, want }) => {
    expect(parseFor(text).isMet(given, 'u')).toBe(want);
  });

  it('takes another object of the same name for the end of the first', () => {
    expect(parseFor('delete').isMet(object({}), 'another uid')).toBe(true);
  });

  it.each(['', 'Ready', 'condition', 'jsonpath=', 'jsonpath={.a}='])('refuses %j', (text) => {
    expect(() => parseFor(text)).toThrow();
  });

  it('refuses a path that leads to several values', () => {
    expect(() => parseFor('jsonpath={.status.conditions[*].status}=True').isMet(object(ready('True')))).toThrow('more than one value');
  });
});
