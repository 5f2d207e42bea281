import { expect, it } from 'vitest';
import { coreTables } from './core-tables.ts';

const now = new Date('2026-11-16T12:00:00Z');
const metadata = { name: 'x', creationTimestamp: '2026-11-16T11:55:00Z' };

it.each<[kind: string, object: object, columns: Record<string, unknown>]>([
  ['Namespace', { status: { phase: 'Terminating' } }, { Name: 'x', Status: 'Terminating', Age: '5m' }],
  ['Namespace', {}, { Name: 'x', Status: '', Age: '5m' }],
  ['ConfigMap', { data: { a: '', b: '' }, binaryData: { c: '' } }, { Name: 'x', Data: 3, Age: '5m' }],
  ['ConfigMap', {}, { Name: 'x', Data: 0, Age: '5m' }],
  ['Lease', { spec: { holderIdentity: 'me' } }, { Name: 'x', Holder: 'me', Age: '5m' }],
  ['CustomResourceDefinition', {}, { Name: 'x', 'Created At': '2026-11-16T11:55:00Z' }],
])('a %s with %j is a row', (kind, object, columns) => {
  const format = coreTables.get(kind);
  const cells = format?.cellsOf({ metadata, ...object }, now) ?? [];
  expect(Object.fromEntries((format?.headers ?? []).map(({ name }, index) => [name, cells[index]]))).toEqual(columns);
  expect(cells.length).toBe(format?.headers.length);
});

it('knows events', () => {
  expect(coreTables.get('Event')?.headers.map(({ name }) => name)).toContain('Last Seen');
});
