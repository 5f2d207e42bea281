import { describe, expect, it } from 'vitest';
import type { Call } from './call.ts';
import { deleteAsked } from './delete-options.ts';

const asked = (body: unknown, query: Record<string, string> = {}) => {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  return deleteAsked({ query: new URLSearchParams(query), headers: {}, body: () => Promise.resolve(bytes) } as unknown as Call);
};

describe('deleteAsked', () => {
  it.each<[what: string, body: unknown, query: Record<string, string>, want: object]>([
    ['nothing', undefined, {}, { dryRun: false, request: {} }],
    ['a dry run by query', undefined, { dryRun: 'All' }, { dryRun: true, request: {} }],
    ['a policy by query', undefined, { propagationPolicy: 'Orphan' }, { dryRun: false, request: { propagationPolicy: 'Orphan' } }],
    ['the old word by query', undefined, { orphanDependents: 'true' }, { dryRun: false, request: { propagationPolicy: 'Orphan' } }],
    ['a dry run by body', { dryRun: ['All'] }, {}, { dryRun: true, request: {} }],
    ['the old word by body', { orphanDependents: false }, {}, { dryRun: false, request: { propagationPolicy: 'Background' } }],
    [
      'preconditions',
      { kind: 'DeleteOptions', preconditions: { uid: 'a', resourceVersion: '1', other: 2 } },
      {},
      { dryRun: false, request: { preconditions: { uid: 'a', resourceVersion: '1' } } },
    ],
    [
      'a query beside a body, which counts for nothing',
      {},
      { dryRun: 'All', propagationPolicy: 'x', gracePeriodSeconds: 'x' },
      { dryRun: false, request: {} },
    ],
  ])('%s', async (_, body, query, want) => {
    expect(await asked(body, query)).toEqual(want);
  });

  it.each<[what: string, body: unknown, query: Record<string, string>, message: string]>([
    ['a bad dry run', { dryRun: ['Some'] }, {}, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
    ['a bad policy', undefined, { propagationPolicy: 'x' }, 'propagationPolicy: Unsupported value: "x"'],
    [
      'both words',
      { propagationPolicy: 'Orphan', orphanDependents: true },
      {},
      'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    ['a bad number', undefined, { gracePeriodSeconds: 'x' }, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['another kind', { kind: 'Pod' }, {}, 'the body of a deletion has to be DeleteOptions, not "Pod"'],
  ])('refuses %s', async (_, body, query, message) => {
    await expect(asked(body, query)).rejects.toThrow(message);
  });
});
