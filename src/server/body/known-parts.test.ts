import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { decodeJson } from './decode.ts';
import { parseBesideKnown } from './known-parts.ts';

const RECORD = [
  { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { '.': {}, 'f:text': {} } } },
];
const STATUS = { phase: 'Ready', conditions: [{ type: 'Ready', status: 'True' }] };
const stored = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'default', labels: { a: 'b' }, managedFields: RECORD },
  spec: { text: 'old' },
  status: STATUS,
} as unknown as KindObject;
const record = JSON.stringify(RECORD);
const status = JSON.stringify(STATUS);

describe('parseBesideKnown', () => {
  it('gives the stored parts themselves, whatever the order and the space around them', () => {
    const text = `{ "status":${status} ,\n"spec":{"text":"new"},"metadata":{"managedFields":${record} , "name":"x"},"kind":"Thing"}`;
    const { value, known } = parseBesideKnown(text, stored) ?? {};
    expect(value).toEqual(JSON.parse(text));
    expect((value as KindObject).metadata.managedFields).toBe(stored.metadata.managedFields);
    expect((value as KindObject).status).toBe(stored.status);
    expect(known).toHaveLength(2);
  });

  it.each([
    ['nothing of it', '{"metadata":{"name":"x"},"spec":{}}'],
    ['the record in another place', `{"metadata":{"name":"x"},"spec":{"managedFields":${record}}}`],
    ['the status in another place', `{"metadata":{"name":"x"},"spec":{"status":${status}}}`],
    ['the record in a list', `[{"metadata":{"managedFields":${record}}}]`],
    ['a key that ends like that of the record', `{"metadata":{"a\\"managedFields":${record}}}`],
    ['the record in a text', `{"metadata":{"name":${JSON.stringify(`"managedFields":${record}`)}}}`],
    ['the record and then another', `{"metadata":{"managedFields":${record},"managedFields":[]}}`],
    ['no metadata', `{"metadata":null,"status2":{"managedFields":${record}}}`],
  ])('leaves a body to the parser that has %s', (_, text) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(parseBesideKnown(text, stored)).toBeUndefined();
    expect(decodeJson(Buffer.from(text), stored).value).toEqual(JSON.parse(text));
  });

  it('says what is wrong as if nothing were known', () => {
    for (const text of [
      `{"metadata":{"managedFields":${record}}`,
      `{"metadata":{"name":"x,"managedFields":${record}}}`,
      `{"metadata":{"managedFields":${record}x}}`,
      `{"metadata":{"managedFields":${record},"a":1e999}}`,
    ]) {
      const complaint = (old?: KindObject) => {
        try {
          decodeJson(Buffer.from(text), old);
          return 'none';
        } catch (error) {
          return String(error);
        }
      };
      expect(complaint(stored)).toBe(complaint());
      expect(complaint(stored)).not.toBe('none');
    }
  });

  it('finds the keys that are there twice, also beside and in the place of what is known', () => {
    for (const text of [
      `{"metadata":{"managedFields":[],"managedFields":${record}},"status":${status}}`,
      `{"metadata":{"managedFields":${record}},"spec":{"a":1,"a":2},"status":${status}}`,
      `{"status":${status},"metadata":{"managedFields":${record}},"status":${status}}`,
    ]) {
      const known = decodeJson(Buffer.from(text), stored);
      const plain = decodeJson(Buffer.from(text));
      expect(known.value).toEqual(plain.value);
      expect(known.duplicates()).toEqual(plain.duplicates());
      expect(known.duplicates()).toHaveLength(1);
    }
  });

  it('decodes every body to what it says', () => {
    const members = fc.constantFrom(
      `"managedFields":${record}`,
      `"status":${status}`,
      `"a\\"status":${status}`,
      `"name":"x"`,
      `"text":${JSON.stringify(`,"status":${status}`)}`,
      `"managedFields":null`,
    );
    const map = fc.array(members, { maxLength: 3 }).map((some) => `{${some.join(',')}}`);
    const body = fc
      .array(
        fc.oneof(
          members,
          map.map((metadata) => `"metadata":${metadata}`),
          map.map((spec) => `"spec":${spec}`),
        ),
        { maxLength: 4 },
      )
      .map((some) => `{${some.join(', ')}}`);
    fc.assert(
      fc.property(body, (text) => {
        const known = decodeJson(Buffer.from(text), stored);
        const plain = decodeJson(Buffer.from(text));
        expect(JSON.stringify(known.value)).toBe(JSON.stringify(plain.value));
        expect(known.duplicates()).toEqual(plain.duplicates());
      }),
    );
  });
});
