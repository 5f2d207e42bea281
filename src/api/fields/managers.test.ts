import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../meta.ts';
import { readManagers, writeManagers } from './managers.ts';

const entry: ManagedFieldsEntry = {
  manager: 'm',
  operation: 'Update',
  apiVersion: 'agentiso.dev/v1alpha1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:leader': {} } },
};

function roundTrip(entries: unknown): ManagedFieldsEntry[] | undefined {
  const managers = readManagers(entries);
  return managers && writeManagers(managers);
}

describe('entries of managedFields', () => {
  test('what needs no change is the same object afterwards', () => {
    expect(roundTrip([entry])?.[0]).toBe(entry);
  });

  test('are sorted by operation, time, manager, version and subresource', () => {
    const sorted: ManagedFieldsEntry[] = [
      { ...entry, operation: 'Apply', time: '2026-01-01T00:00:09Z' },
      { ...entry, manager: 'z', time: '2025-01-01T00:00:00Z' },
      { ...entry, manager: 'a', apiVersion: 'v1' },
      { ...entry, manager: 'a', apiVersion: 'v2' },
      { ...entry, manager: 'a', apiVersion: 'v2', subresource: 'status' },
      { ...entry, manager: 'b' },
    ];
    expect(roundTrip([...sorted].reverse())).toEqual(sorted);
    const { time: _, ...timeless } = entry;
    expect(roundTrip([entry, { ...timeless, manager: 'z' }])?.map(({ manager }) => manager)).toEqual(['z', 'm']);
  });

  test('an applier is the same in every version, an updater is not', () => {
    const other = { ...entry, apiVersion: 'v1' };
    expect(roundTrip([entry, other])).toHaveLength(2);
    expect(
      roundTrip([
        { ...entry, operation: 'Apply' },
        { ...other, operation: 'Apply' },
      ]),
    ).toEqual([{ ...other, operation: 'Apply' }]);
  });

  test('times become UTC, members come in order, empty sets go', () => {
    expect(roundTrip([{ ...entry, time: '2026-01-01T02:00:00.5+02:00' }])).toEqual([entry]);
    expect(JSON.stringify(roundTrip([{ ...entry, extra: 1, fieldsV1: { 'f:b': {}, 'f:a': { 'f:d': {}, 'f:c': {} } } }]))).toContain(
      '"fieldsV1":{"f:a":{"f:c":{},"f:d":{}},"f:b":{}}}',
    );
    expect(
      roundTrip([
        { ...entry, fieldsV1: {} },
        { ...entry, manager: 'n', fieldsV1: null },
      ]),
    ).toBeUndefined();
  });

  test('a manager without a name is written without one, and stays the same', () => {
    const { manager: _, ...nameless } = entry;
    expect(roundTrip([nameless])).toEqual([nameless]);
    expect(roundTrip([{ ...entry, manager: '' }])).toEqual([nameless]);
    expect(roundTrip([{ ...nameless, time: '2026-01-02T00:00:00Z' }, entry])).toEqual([
      entry,
      { ...nameless, time: '2026-01-02T00:00:00Z' },
    ]);
  });

  test.each<[string, unknown]>([
    ['no list', {}],
    ['no object', ['x']],
    ['operation', [{ ...entry, operation: 'Delete' }]],
    ['apiVersion', [{ ...entry, apiVersion: '' }]],
    ['fieldsType', [{ ...entry, fieldsType: 'FieldsV2' }]],
    ['fieldsV1', [{ ...entry, fieldsV1: 'f:a' }]],
    ['an element', [{ ...entry, fieldsV1: { nonsense: {} } }]],
    ['time', [{ ...entry, time: 'yesterday' }]],
    ['time that is none', [{ ...entry, time: '2026-13-41T00:00:00+01:00' }]],
    ['time that is none, in the usual form', [{ ...entry, time: '2026-13-41T00:00:00Z' }]],
    ['manager', [{ ...entry, manager: 'x'.repeat(200) }]],
    ['manager of another type', [{ ...entry, manager: 1 }]],
    ['subresource', [{ ...entry, subresource: 1 }]],
    ['one of several', [entry, {}]],
  ])('one that cannot be understood spoils all: %s', (_, entries) => {
    expect(readManagers(entries)).toBeUndefined();
  });
});
