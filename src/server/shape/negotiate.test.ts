import { describe, expect, it } from 'vitest';
import { negotiate } from './negotiate.ts';

const all = { canBeTable: true, canBePartial: true };
const object = { as: 'object', version: 'v1', format: 'json' };
const table = { as: 'Table', version: 'v1', format: 'json' };
const KUBECTL = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

describe('negotiate', () => {
  it.each([
    [undefined, object],
    ['', object],
    ['*/*', object],
    ['*', object],
    ['application/json', object],
    ['application/*', object],
    ['application/json, */*;q=0.8', object],
    ['application/vnd.kubernetes.protobuf,application/json', object],
    ['application/vnd.kubernetes.protobuf;q=0.1, */*', object],
    ['text/html, application/yaml', { ...object, format: 'yaml' }],
    ['application/json;stream=watch', object],
    ['application/json;pretty=1', { ...object, pretty: true }],
    ['application/json;pretty=0;charset=utf-8;export=1', object],
    ['application/json;sv=v1', object],
    [KUBECTL, table],
    ['application/json;g=meta.k8s.io;as=Table;v=v1', table],
    ['application/json ; g=meta.k8s.io ; v=v1beta1 ; as=Table', { ...table, version: 'v1beta1' }],
    ['application/yaml;as=Table;g=meta.k8s.io;v=v1', { ...table, format: 'yaml' }],
    ['*/*;as=Table;g=meta.k8s.io;v=v1', table],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', { ...object, as: 'PartialObjectMetadata' }],
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
      { as: 'PartialObjectMetadataList', version: 'v1beta1', format: 'json' },
    ],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      { as: 'PartialObjectMetadataList', version: 'v1', format: 'json', prefersProtobuf: true },
    ],
    ['application/json;as=Table;g=meta.k8s.io;v=v1;q=0.5, application/json', object],
    ['application/yaml;q=0.5, application/json;q=0.9', object],
    ['application/yaml;q=0, text/html', { ...object, format: 'yaml' }],
    ['application/json;as=Table;g=other;v=v1, application/json', object],
    ['application/json;as=Table;g=meta.k8s.io;v=v2, application/yaml', { ...object, format: 'yaml' }],
  ])('takes %s as %o', (accept, expected) => {
    expect(negotiate(accept, all)).toEqual(expected);
  });

  it.each([
    'text/html',
    'application/vnd.kubernetes.protobuf',
    'application/JSON/x',
    'application',
    'application/json;as=Table',
    'application/json;as=Table;g=meta.k8s.io',
    'application/json;g=meta.k8s.io;v=v1',
    'application/json;as=Other;g=meta.k8s.io;v=v1',
    'application/json;sv=v2',
    'application/json;stream=other',
    'application/yaml;stream=watch',
  ])('gives nothing for %s', (accept) => {
    expect(negotiate(accept, all)).toBeUndefined();
  });

  it('passes over forms the endpoint cannot give', () => {
    expect(negotiate(KUBECTL, { canBeTable: false, canBePartial: true })).toEqual(object);
    expect(negotiate(KUBECTL.slice(0, -',application/json'.length), { canBeTable: false, canBePartial: true })).toBeUndefined();
    const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    expect(negotiate(partial, { canBeTable: true, canBePartial: false })).toBeUndefined();
  });

  it('never streams YAML', () => {
    expect(negotiate('application/yaml', { ...all, isStream: true })).toBeUndefined();
    expect(negotiate('application/json;stream=watch', { ...all, isStream: true })).toEqual(object);
    expect(negotiate(KUBECTL, { ...all, isStream: true })).toEqual(table);
  });

  it('answers ordinary headers with one and the same value', () => {
    expect(negotiate(undefined, all)).toBe(negotiate('application/json', all));
  });

  it('is not slowed by a header of thousands of clauses', () => {
    expect(negotiate(`${'a/b;q=0.1,'.repeat(5000)}application/json`, all)).toBeUndefined();
  });
});
