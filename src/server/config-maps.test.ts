/** Config maps and leases over the wire: kinds with rules that no schema says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLY, askServer, MERGE, PROTOBUF, STRATEGIC } from './asking.fixture.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const map = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const lease = (name: string, spec: object) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec });

let server: Awaited<ReturnType<typeof askServer>>;

beforeAll(async () => {
  server = await askServer();
});

afterAll(() => server.stop());

const create = (name: string, more: object = {}) => server.ask(MAPS, { method: 'POST', body: map(name, more) });
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const UNREADABLE = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';

describe('a config map', () => {
  it.each([
    ['a key with a space', { data: { 'a b': '1' } }, 422, `ConfigMap "bad" is invalid: data[a b]: Invalid value: "a b": ${KEY_TEXT}`],
    [
      'a key like a path',
      { data: { '..x': '1' } },
      422,
      `ConfigMap "bad" is invalid: data[..x]: Invalid value: "..x": must not start with '..'`,
    ],
    [
      'a key in both',
      { data: { a: '1' }, binaryData: { a: 'YQ==' } },
      422,
      'ConfigMap "bad" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    [
      'more than 1 MiB',
      { data: { a: 'x'.repeat(1024 * 1024 + 1) } },
      422,
      'ConfigMap "bad" is invalid: []: Too long: may not be more than 1048576 bytes',
    ],
    ['what is no base64', { binaryData: { a: '!!' } }, 400, `${UNREADABLE}illegal base64 data at input byte 0`],
    ['half of base64', { binaryData: { a: 'YQ' } }, 400, `${UNREADABLE}illegal base64 data at input byte 0`],
    ['a number', { data: { a: 1 } }, 400, `${UNREADABLE}json: cannot unmarshal number into Go struct field ConfigMap.data of type string`],
  ])('is refused for %s', async (_, more, code, message) => {
    expect(await create('bad', more)).toMatchObject({ code, body: { message } });
  });

  it('has no generation, and empty text for none', async () => {
    const { body } = await create('plain', { data: { a: null }, binaryData: { b: 'YWI=' } });
    expect(body).toMatchObject({ data: { a: '' }, binaryData: { b: 'YWI=' } });
    const { body: changed } = await server.ask(`${MAPS}/plain`, { ...MERGE, body: { data: { c: '1' } } });
    for (const { metadata } of [body, changed]) expect(metadata).not.toHaveProperty('generation');
  });

  it('that is immutable keeps its data, and stays so', async () => {
    await create('fixed', { data: { a: '1' }, immutable: true });
    const refused = await server.ask(`${MAPS}/fixed`, { ...MERGE, body: { data: { a: '2' }, immutable: null } });
    expect(refused.body.details.causes.map(({ field }: { field: string }) => field)).toEqual(['immutable', 'data']);
    expect((await server.ask(`${MAPS}/fixed`, { ...MERGE, body: { metadata: { labels: { a: 'b' } } } })).code).toBe(200);
  });

  it.each([
    ['replaces a map', { data: { $patch: 'replace', n: '1' } }, { data: { n: '1' } }],
    ['deletes a map', { data: { $patch: 'delete' } }, { data: undefined }],
    ['merges a map', { data: { n: '1', a: null } }, { data: { b: '2', n: '1' } }],
    ['puts finalizers first', { metadata: { finalizers: ['x.y/w'] } }, { metadata: { finalizers: ['x.y/w', 'x.y/z'] } }],
  ])('%s by a strategic patch', async (verb, patch, expected) => {
    const name = verb.replaceAll(' ', '-');
    await server.ask(MAPS, {
      method: 'POST',
      body: { ...map(name, { data: { a: '1', b: '2' } }), metadata: { name, finalizers: ['x.y/z'] } },
    });
    const { code, body } = await server.ask(`${MAPS}/${name}`, { ...STRATEGIC, body: patch });
    expect(code).toBe(200);
    expect({ ...body, data: body.data }).toMatchObject(expected);
  });

  it('says what is wrong with its metadata first, and once', async () => {
    const owner = { apiVersion: 'v1', kind: 'Box', name: 'x' };
    const body = { ...map('owned', { data: { 'a b': '' } }), metadata: { name: 'owned', ownerReferences: [owner] } };
    const refused = await server.ask(MAPS, { method: 'POST', body });
    expect(refused.body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: "": must not be empty', field: 'metadata.ownerReferences.uid' },
      { reason: 'FieldValueInvalid', message: expect.any(String), field: 'data[a b]' },
    ]);
  });
});

describe('a lease', () => {
  it.each([
    [{ leaseDurationSeconds: 0 }, 'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    [{ leaseTransitions: -1 }, 'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
  ])('of %j is refused', async (spec, message) => {
    const refused = await server.ask(LEASES, { method: 'POST', body: lease('bad', spec) });
    expect(refused).toMatchObject({ code: 422, body: { message: `Lease.coordination.k8s.io "bad" is invalid: ${message}` } });
  });

  it('is taken in protobuf, as Go programs send it', async () => {
    const field = (number: number, content: string | readonly number[]) => {
      const bytes = typeof content === 'string' ? [...Buffer.from(content)] : content;
      return [number * 8 + 2, bytes.length, ...bytes];
    };
    const type = field(1, [...field(1, 'coordination.k8s.io/v1'), ...field(2, 'Lease')]);
    const sent = (spec: readonly number[], version = '') => {
      const metadata = [...field(1, 'proto'), ...field(6, version)];
      return Buffer.from([...Buffer.from('k8s\0'), ...type, ...field(2, [...field(1, metadata), ...field(2, spec)])]);
    };
    const made = await server.ask(LEASES, { method: 'POST', type: PROTOBUF, body: sent([...field(1, 'me'), 16, 15]) });
    expect(made).toMatchObject({ code: 201, body: { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } } });
    expect(made.body.metadata).not.toHaveProperty('generation');
    const take = (version: string) => sent([...field(1, 'you'), 16, 15, 40, 1], version);
    // Not without saying whose it was: another may have taken it meanwhile.
    expect((await server.ask(`${LEASES}/proto`, { method: 'PUT', type: PROTOBUF, body: take('') })).code).toBe(422);
    const body = take(made.body.metadata.resourceVersion);
    const taken = await server.ask(`${LEASES}/proto`, { method: 'PUT', type: PROTOBUF, body });
    expect(taken).toMatchObject({ code: 200, body: { spec: { holderIdentity: 'you', leaseTransitions: 1 } } });
  });

  it('of no time is not understood', async () => {
    const refused = await server.ask(LEASES, { method: 'POST', body: lease('bad', { renewTime: 'x' }) });
    expect(refused).toMatchObject({ code: 400, body: { message: expect.stringContaining('cannot parse "x" as "2006"') } });
  });
});

describe('any object', () => {
  it('is not patched into one without a name', async () => {
    await create('named');
    const message = 'the name of the object (named based on URL) was undeterminable: name must be provided';
    expect(await server.ask(`${MAPS}/named`, { ...MERGE, body: { metadata: null } })).toMatchObject({ code: 400, body: { message } });
  });

  it('is not marked for deletion by a patch', async () => {
    await create('marked');
    const time = '2001-01-01T00:00:00Z';
    const refused = await server.ask(`${MAPS}/marked`, { ...MERGE, body: { metadata: { deletionTimestamp: time } } });
    const message = `ConfigMap "marked" is invalid: metadata.deletionTimestamp: Invalid value: "${time}": field is immutable`;
    expect(refused).toMatchObject({ code: 422, body: { message } });
  });

  it.each([MAPS, `${MAPS}/future`])('of a version beyond all numbers is not there yet: %s', async (path) => {
    await create('future');
    const refused = await server.ask(`${path}?resourceVersion=99999999999999999`);
    expect(refused).toMatchObject({
      code: 504,
      body: { message: expect.stringContaining('Too large resource version: 99999999999999999,') },
    });
  });

  it('is not deleted by the body of something else', async () => {
    await create('kept');
    expect((await server.ask(`${MAPS}/kept`, { method: 'DELETE', body: { kind: 'Foo', apiVersion: 'v1' } })).code).toBe(400);
    expect((await server.ask(`${MAPS}/kept`)).code).toBe(200);
  });

  it('of which only the metadata is asked for has no type in a list for those who would rather have protobuf', async () => {
    const as = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const accept = `application/vnd.kubernetes.protobuf;${as},application/json;${as}`;
    const { body } = await server.ask(MAPS, { accept });
    expect(Object.keys(body.items[0])).toEqual(['metadata']);
    expect((await server.ask(MAPS, { accept: `application/json;${as}` })).body.items[0]).toHaveProperty('kind', 'PartialObjectMetadata');
  });

  it('that is applied hears of unknown fields by their names', async () => {
    const body = { zz: 1, ...map('strange'), metadata: { name: 'strange', yy: 1 } };
    const refused = await server.ask(`${MAPS}/strange?fieldManager=a`, { ...APPLY, body });
    expect(refused.body.message).toMatch(/\.metadata\.yy: .*\n.*\.zz: /);
  });
});
