import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from '#api/label-selector.ts';
import type { KindObject } from '#api/meta.ts';
import { parseFieldSelector } from '#api/selector.ts';
import { matchesQuery, type Query, Table } from './table.ts';

type Write = {
  readonly namespace: string;
  readonly name: string;
  readonly put?: { labels: Record<string, string>; team: string | number };
};

const FIELDS = ['metadata.name', 'spec.team'];
const namespace = fc.constantFrom('a', 'a-b');
const name = fc.constantFrom('x', 'x-y');
const value = fc.constantFrom('red', 'blue', '');
const labels = fc.dictionary(fc.constantFrom('team', 'tier'), value, { maxKeys: 2 });
const write: fc.Arbitrary<Write> = fc.record(
  { namespace, name, put: fc.record({ labels, team: fc.oneof(value, fc.constantFrom(1, 2)) }) },
  { requiredKeys: ['namespace', 'name'] },
);
const labelSelector = fc
  .array(
    fc.constantFrom(
      'team=red',
      'team=',
      'team!=red',
      'team in (red,blue)',
      'team in (red,blue,red)',
      'team in (red,)',
      'tier notin (blue)',
      'tier',
      '!tier',
      'tier=blue',
    ),
    { maxLength: 2 },
  )
  .map((parts) => parts.join(','));
const fieldSelector = fc
  .array(fc.constantFrom('spec.team=red', 'spec.team=1', 'spec.team=', 'spec.team!=red', 'metadata.name=x'), { maxLength: 2 })
  .map((parts) => parts.join(','));
const query: fc.Arbitrary<Query> = fc
  .record({ namespace: fc.option(namespace, { nil: undefined }), labelSelector, fieldSelector })
  .map((asked) => ({
    namespace: asked.namespace,
    labels: parseLabelSelector(asked.labelSelector),
    fields: parseFieldSelector(asked.fieldSelector, FIELDS),
  }));

function toObject({ namespace, name }: Write, put: NonNullable<Write['put']>): KindObject {
  const metadata = { namespace, name, labels: put.labels, uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' };
  return { apiVersion: 'test/v1', kind: 'Box', metadata, spec: { team: put.team } };
}

function compare(a: KindObject, b: KindObject): number {
  const [x, y] = [a, b].map(({ metadata }) => [metadata.namespace, metadata.name]) as [string[], string[]];
  for (const index of [0, 1]) if (x[index] !== y[index]) return (x[index] ?? '') < (y[index] ?? '') ? -1 : 1;
  return 0;
}

describe('Table.list', () => {
  it('gives through its indexes what a scan of everything would, sorted by namespace and name, at any time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 1, arbitrary: write }, { weight: 1, arbitrary: query }), { minLength: 10, maxLength: 60 }),
        (steps) => {
          const table = new Table();
          const model = new Map<string, KindObject>();
          for (const step of steps) {
            if ('labels' in step) {
              const scanned = [...model.values()].filter((object) => matchesQuery(step, object)).sort(compare);
              expect(table.list(step)).toEqual(scanned);
            } else if (step.put) {
              const object = toObject(step, step.put);
              table.put(object);
              model.set(`${step.namespace}/${step.name}`, object);
            } else {
              table.remove(step.namespace, step.name);
              model.delete(`${step.namespace}/${step.name}`);
            }
          }
          expect(table.size).toBe(model.size);
        },
      ),
      { numRuns: 300 },
    );
  });
});
