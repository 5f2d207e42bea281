import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { objectText } from './object-text.ts';

const record = [{ manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }];
const status = { phase: 'Ünlike', note: '$& ~ "' };
const before = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', managedFields: record, uid: 'u' },
  spec: { text: 'old' },
  status,
} as unknown as KindObject;

describe('objectText', () => {
  it.each<[string, object]>([
    ['the same record and status', { ...before, spec: { text: 'neü' } }],
    ['the same record only', { ...before, status: { phase: 'Other' } }],
    ['the same record and no status', { ...before, status: undefined }],
    ['the same status only', { ...before, metadata: { ...before.metadata, managedFields: [...record] } }],
    ['no record', { ...before, metadata: { name: 'x' } }],
    ['the status before the metadata', { status, apiVersion: 'v1', kind: 'Thing', metadata: before.metadata, spec: {} }],
    ['something behind the status', { ...before, later: 1 }],
  ])('is what JSON.stringify says of %s', (_, object) => {
    expect(objectText(object as KindObject, before)).toBe(JSON.stringify(object));
    expect(objectText(object as KindObject, before)).toBe(JSON.stringify(object));
    expect(objectText(object as KindObject, undefined)).toBe(JSON.stringify(object));
  });
});
