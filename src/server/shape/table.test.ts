import { describe, expect, it } from 'vitest';
import { kinds } from '#api/kinds.ts';
import type { PrinterColumn } from '#api/schema.ts';
import { tableFormatOf } from './columns.ts';
import { isAList, isNotAList, partialListOf, partialOf } from './partial.ts';
import { includeObjectOf, listMetaOf, tableOf } from './table.ts';

const now = new Date('2026-11-16T12:00:00Z');
const columns: readonly PrinterColumn[] = [
  { name: 'Text', type: 'string', jsonPath: '.spec.text', description: 'Some text.' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Whole', type: 'integer', jsonPath: '.spec.whole' },
  { name: 'Real', type: 'number', jsonPath: '.spec.real', priority: 1 },
  { name: 'Draft', type: 'boolean', jsonPath: '.spec.draft' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];
const metadata = { name: 'x', resourceVersion: '7', creationTimestamp: '2026-11-16T11:55:00Z', labels: { a: 'b' } };
const full = {
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata,
  spec: { text: 'hello', whole: 3, real: 1.5, draft: true },
  status: {
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};
const options = { listMeta: { resourceVersion: '9' }, includeObject: 'Metadata', now, version: 'v1', withHeaders: true } as const;
const format = tableFormatOf(columns);

const cellsOf = (spec: object) => tableOf(format, [{ metadata: { name: 'x' }, spec } as object], options).rows[0]?.cells;

describe('tableOf', () => {
  it('makes a row of an object, with its metadata', () => {
    expect(tableOf(format, [full], { ...options, listMeta: { resourceVersion: '9', continue: 'c', remainingItemCount: 4 } })).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 4 },
      columnDefinitions: [
        expect.objectContaining({ name: 'Name', type: 'string', format: 'name', priority: 0 }),
        { name: 'Text', type: 'string', format: '', description: 'Some text.', priority: 0 },
        expect.objectContaining({
          name: 'Ready',
          description: 'Custom resource definition column (in JSONPath format): .status.conditions[?(@.type=="Ready")].status',
        }),
        expect.objectContaining({ name: 'Whole', type: 'integer' }),
        expect.objectContaining({ name: 'Real', type: 'number', priority: 1 }),
        expect.objectContaining({ name: 'Draft', type: 'boolean' }),
        expect.objectContaining({ name: 'Age', type: 'date' }),
      ],
      rows: [
        {
          cells: ['x', 'hello', 'True', 3, 1.5, true, '5m'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata },
        },
      ],
    });
  });

  it('leaves cells empty for what is missing or of another type', () => {
    expect(cellsOf({})).toEqual(['x', null, null, null, null, null, null]);
    expect(cellsOf({ text: null, whole: '3', real: '1', draft: 'yes' })).toEqual(['x', null, null, null, null, null, null]);
  });

  it('prints lists, maps, numbers and truth values as text in a column of text', () => {
    expect(cellsOf({ text: ['a', 'b'] })?.[1]).toBe('["a","b"]');
    expect(cellsOf({ text: { z: 1, a: 2 } })?.[1]).toBe('{"a":2,"z":1}');
    expect(cellsOf({ text: 5 })?.[1]).toBe('5');
    expect(cellsOf({ text: false })?.[1]).toBe('false');
    expect(cellsOf({ whole: 2.9 })?.[3]).toBe(2);
  });

  it('carries the object that was asked for', () => {
    const objectOf = (includeObject: 'None' | 'Metadata' | 'Object') =>
      tableOf(format, [full], { ...options, includeObject }).rows[0]?.object;
    expect(objectOf('Object')).toBe(full);
    expect(objectOf('None')).toBeNull();
    expect(objectOf('Metadata')).toMatchObject({ kind: 'PartialObjectMetadata' });
  });

  it('speaks v1beta1 throughout', () => {
    expect(tableOf(format, [full], { ...options, version: 'v1beta1' })).toMatchObject({
      apiVersion: 'meta.k8s.io/v1beta1',
      rows: [{ object: { apiVersion: 'meta.k8s.io/v1beta1' } }],
    });
  });

  it('has no headers from the second event of a watch on', () => {
    const event = tableOf(format, [full], { ...options, listMeta: listMetaOf(full), withHeaders: false });
    expect(event.columnDefinitions).toBeNull();
    expect(event.metadata).toEqual({ resourceVersion: '7' });
  });

  it('lets the bookmark that ends the initial events through even without objects', () => {
    const bookmark = { metadata: { resourceVersion: '5', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const table = tableOf(format, [bookmark], { ...options, includeObject: 'None' });
    expect(table.rows).toEqual([
      {
        cells: ['', null, null, null, null, null, null],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: bookmark.metadata },
      },
    ]);
  });

  it('adds an age when a kind declares no column, and nothing when it does', () => {
    const names = (declared: readonly PrinterColumn[]) => tableFormatOf(declared).headers.map(({ name }) => name);
    expect(names([])).toEqual(['Name', 'Age']);
    expect(names(columns.slice(0, 1))).toEqual(['Name', 'Text']);
  });

  it('compiles the columns of every kind, once', () => {
    for (const { columns: declared } of kinds) expect(tableFormatOf(declared)).toBe(tableFormatOf(declared));
  });
});

describe('includeObjectOf', () => {
  it('knows three values and a default', () => {
    expect([undefined, null, '', 'None', 'Metadata', 'Object'].map(includeObjectOf)).toEqual([
      'Metadata',
      'Metadata',
      'Metadata',
      'None',
      'Metadata',
      'Object',
    ]);
  });

  it('refuses others in the words of Kubernetes', () => {
    expect(() => includeObjectOf('all')).toThrow(
      expect.objectContaining({
        status: 400,
        message: `Unable to convert to Table as requested: includeObject: Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty`,
      }),
    );
  });
});

describe('partial objects', () => {
  it('are the metadata alone', () => {
    expect(partialOf(full, 'v1')).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
    expect(partialListOf([full], { resourceVersion: '9' }, { version: 'v1beta1' })).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1beta1',
      metadata: { resourceVersion: '9' },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata }],
    });
  });

  it('are refused where the answer has the other shape', () => {
    expect(isAList('TaskList')).toMatchObject({
      status: 406,
      message: 'you requested PartialObjectMetadata, but the requested object is a list (TaskList)',
    });
    expect(isNotAList('Task').message).toBe('you requested PartialObjectMetadataList, but the requested object is not a list (Task)');
  });
});
