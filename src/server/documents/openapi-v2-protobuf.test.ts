import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type SwaggerDocument, swagger } from './openapi-v2.ts';
import { openApiV2Protobuf } from './openapi-v2-protobuf.ts';

/** One of everything that we write. */
const SAMPLE: SwaggerDocument = {
  info: { title: 'sample', version: 'v1' },
  paths: {
    '/boxes/{name}': {
      operations: {
        get: { parameters: [{ name: 'q', in: 'query', type: 'string' }], responses: { '401': { description: 'Unauthorized' } } },
        put: { parameters: [], responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Box' } } } },
        post: { operationId: 'createBox', parameters: [], responses: { '200': { description: 'OK' } } },
        delete: { parameters: [{ name: 'body', in: 'body', schema: { type: 'object' } }], responses: { '200': { description: 'OK' } } },
        patch: {
          tags: ['boxes', 'v1'],
          description: 'patch a Box',
          operationId: 'patchBox',
          produces: ['application/json'],
          consumes: ['application/json-patch+json', 'application/merge-patch+json'],
          schemes: ['https'],
          parameters: [
            { name: 'body', in: 'body', description: 'the patch', required: true, schema: { $ref: '#/definitions/Box' } },
            { name: 'force', in: 'query', description: 'Forces.', type: 'boolean', uniqueItems: true },
          ],
          responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Box' } }, '401': { description: 'Unauthorized' } },
          'x-kubernetes-action': 'patch',
          'x-kubernetes-group-version-kind': { group: '', kind: 'Box', version: 'v1' },
        },
      },
      parameters: [{ name: 'name', in: 'path', description: 'The name.', type: 'string', required: true, uniqueItems: true }],
    },
  },
  definitions: {
    Box: {
      title: 'A box',
      description: 'Holds things – “any”.',
      type: 'object',
      required: ['size', 'things'],
      properties: {
        size: {
          type: 'integer',
          format: 'int32',
          minimum: 1,
          maximum: 4.5,
          exclusiveMinimum: true,
          exclusiveMaximum: true,
          default: 2,
          multipleOf: 0.5,
        },
        count: { type: 'integer', minimum: 0, minLength: 0 },
        colour: { type: 'string', enum: ['red', '', 'no', null], minLength: 1, maxLength: 300, pattern: '^\\w*$', default: '' },
        things: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          maxItems: 128,
          uniqueItems: true,
          'x-kubernetes-list-type': 'set',
        },
        labels: { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1, maxProperties: 2, default: {} },
        open: { type: 'object', additionalProperties: true, 'x-kubernetes-preserve-unknown-fields': true },
        closed: { type: 'object', additionalProperties: false, example: { a: 1 } },
        inner: { $ref: '#/definitions/Box', description: 'A box in the box.' },
        any: {},
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Box', version: 'v1' }],
      'x-kubernetes-validations': [{ message: 'two\nlines: "quoted"', rule: 'self.size > 0' }],
    },
    Empty: { type: 'object' },
  },
};

/** The content of each length-delimited field of a message, by number. */
function fieldsOf(message: Buffer): { number: number; content: Buffer }[] {
  const fields: { number: number; content: Buffer }[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? expect.fail('cut off');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const key = varint();
    expect(key & 7).toBe(2);
    const length = varint();
    fields.push({ number: key >> 3, content: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

describe('Swagger as protobuf', () => {
  it("writes the bytes that gnostic's own parser makes of the same document", () => {
    // Recorded with gnostic-models 0.6.9 (ParseDocument, then Marshal), its YAML texts rewritten as JSON.
    const golden = readFileSync(new URL('golden/swagger-sample.hex', import.meta.url), 'utf8').replaceAll('\n', '');
    expect(openApiV2Protobuf(SAMPLE).toString('hex')).toBe(golden);
  });

  it('holds every path and every definition', () => {
    const document = swagger();
    const parts = new Map(fieldsOf(openApiV2Protobuf(document)).map(({ number, content }) => [number, content]));
    const names = (number: number) =>
      fieldsOf(parts.get(number) ?? Buffer.alloc(0)).map(({ content }) => fieldsOf(content)[0]?.content.toString());
    expect([...parts.keys()]).toEqual([1, 2, 8, 9]);
    expect(names(8)).toEqual(Object.keys(document.paths));
    expect(names(9)).toEqual(Object.keys(document.definitions));
  });
});
