/** What clients hear over the wire; the conformance suite compares the rest with a real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveMemory } from '../../test/conformance/api/serve-memory.ts';

const GROUP = '/apis/agentiso.dev/v1alpha1';
const MERGES = `${GROUP}/namespaces/default/merges`;
const NAMESPACES = '/api/v1/namespaces';

let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  const server = await serveMemory();
  url = server.connect.baseUrl;
  stop = server.stop;
});

afterAll(() => stop());

interface Asking {
  readonly method?: string;
  readonly type?: string;
  readonly accept?: string;
  readonly body?: unknown;
}

async function ask(path: string, { method = 'GET', type = 'application/json', accept = 'application/json', body }: Asking = {}) {
  const headers = { accept, 'content-type': type };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, headers, ...sent });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text.split('\n').length === 1;
  return { code: response.status, warning: response.headers.get('warning'), text, body: isJson ? JSON.parse(text) : undefined };
}

const merge = (name: string, metadata: object = {}) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Merge',
  metadata: { name, ...metadata },
  spec: { team: 'shop', sources: [{ agent: 'a' }], target: { branch: 'main' } },
});
const namespace = (name: string, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } });
const APPLY = { method: 'PATCH', type: 'application/apply-patch+yaml' };
const MERGE = { method: 'PATCH', type: 'application/merge-patch+json' };

describe('finalizers without a domain', () => {
  const WARNING = /^299 - "metadata.finalizers: \\"plain\\": prefer a domain-qualified/;

  it.each([
    ['create', '', { method: 'POST', body: merge('warn-create', { finalizers: ['plain'] }) }],
    ['apply', '/warn-apply?fieldManager=a', { ...APPLY, body: merge('warn-apply', { finalizers: ['plain'] }) }],
  ])('are warned of on %s', async (_, path, asking) => {
    expect(await ask(`${MERGES}${path}`, asking)).toMatchObject({ code: 201, warning: expect.stringMatching(WARNING) });
  });

  it('are warned of by whoever adds them, and not again', async () => {
    await ask(MERGES, { method: 'POST', body: merge('warn-patch') });
    const first = await ask(`${MERGES}/warn-patch`, { ...MERGE, body: { metadata: { finalizers: ['plain'] } } });
    expect(first).toMatchObject({ code: 200, warning: expect.stringMatching(WARNING) });
    expect(await ask(`${MERGES}/warn-patch`, { method: 'PUT', body: first.body })).toMatchObject({ code: 200, warning: null });
  });
});

it.each([
  ['POST', ''],
  ['PUT', '/none'],
])('takes metadata that is null for none, on %s', async (method, path) => {
  const { code, body } = await ask(`${MERGES}${path}`, { method, body: { ...merge('x'), metadata: null } });
  expect([code, body.reason]).toEqual(method === 'POST' ? [422, 'Invalid'] : [400, 'BadRequest']);
});

it('takes members of metadata that are null for none', async () => {
  const body = namespace('with-nulls', { finalizers: null, labels: null, ownerReferences: null });
  expect(await ask(NAMESPACES, { method: 'POST', body })).toMatchObject({ code: 201 });
});

it('counts an owner once, however often a patch names it', async () => {
  const owner = { apiVersion: 'v1', kind: 'Box', name: 'x', uid: '00000000-0000-0000-0000-000000000001' };
  await ask(MERGES, { method: 'POST', body: merge('owned') });
  const patched = await ask(`${MERGES}/owned`, { ...MERGE, body: { metadata: { ownerReferences: [owner, owner] } } });
  expect(patched.body.metadata.ownerReferences).toEqual([owner]);
  expect(patched.warning).toContain('contains duplicate entries after mutating admission happens');
});

describe('namespaces', () => {
  it('keep the label with their name, also when they are applied', async () => {
    const applied = await ask(`${NAMESPACES}/applied?fieldManager=a`, { ...APPLY, body: namespace('applied') });
    expect(applied).toMatchObject({ code: 201, body: { metadata: { labels: { 'kubernetes.io/metadata.name': 'applied' } } } });
  });

  it('take nothing new while they end', async () => {
    await ask(NAMESPACES, { method: 'POST', body: namespace('ending', { finalizers: ['a.b/c'] }) });
    await ask(`${NAMESPACES}/ending`, { method: 'DELETE' });
    const there = `${GROUP}/namespaces/ending/merges`;
    const message = 'merges.agentiso.dev "a" is forbidden: unable to create new content in namespace ending because it is being terminated';
    expect(await ask(there, { method: 'POST', body: merge('a') })).toMatchObject({ code: 403, body: { message } });
    expect(await ask(`${there}/a?fieldManager=a`, { ...APPLY, body: merge('a') })).toMatchObject({ code: 403, body: { message } });
  });

  it('cannot be deleted all at once', async () => {
    const message = 'the server does not allow this method on the requested resource';
    expect(await ask(NAMESPACES, { method: 'DELETE' })).toMatchObject({ code: 405, body: { message, details: {} } });
  });

  it('are not made of other kinds', async () => {
    const message = 'Pod in version "v1" cannot be handled as a Namespace: converting (v1.Pod) to (core.Namespace): unknown conversion';
    expect(await ask(NAMESPACES, { method: 'POST', body: { ...namespace('x'), kind: 'Pod' } })).toMatchObject({
      code: 400,
      body: { message },
    });
  });
});

it('says where a list of custom resources ends, and nothing of that in others', async () => {
  expect((await ask(`${MERGES}?labelSelector=none`)).body.metadata).toHaveProperty('continue', '');
  expect((await ask(`${NAMESPACES}?labelSelector=none`)).body.metadata).not.toHaveProperty('continue');
});

describe('what is not there', () => {
  const message = 'the server could not find the requested resource';

  it.each(['/api/v1/nosuch', '/api/v1/namespaces/default/nosuch/a', '/apis/events.k8s.io/v1/nosuch'])('is a Status at %s', async (path) => {
    expect(await ask(path)).toMatchObject({ code: 404, body: { kind: 'Status', reason: 'NotFound', message, details: {} } });
  });

  it.each([`${GROUP}/nosuch`, '/api/v2/nosuch', '/nosuch'])('is plain text at %s', async (path) => {
    expect(await ask(path)).toMatchObject({ code: 404, text: '404 page not found\n' });
  });
});

it('creates a custom resource on the name it is to have, and on no other', async () => {
  expect((await ask(`${MERGES}/on-name`, { method: 'POST', body: merge('on-name') })).code).toBe(201);
  expect((await ask(`${MERGES}/on-name`, { method: 'POST', body: merge('on-name') })).code).toBe(409);
  expect((await ask(`${MERGES}/on-name`, { method: 'POST', body: merge('other') })).code).toBe(400);
});

it('says what is wrong in the order in which Kubernetes finds it', async () => {
  const body = { ...merge('order', { labels: { 'a b': '' } }), spec: { team: 1, sources: [], target: { branch: 'main' }, path: 2 } };
  const { body: refused } = await ask(MERGES, { method: 'POST', body });
  const fields = refused.details.causes.map(({ field }: { field: string }) => field);
  expect(fields[0]).toBe('metadata.labels');
  expect(fields.slice(1, -1)).toEqual(expect.arrayContaining(['spec.team', 'spec.path']));
  expect(fields.at(-1)).toBe('<nil>');
  expect(refused.message).toMatch(/some validation rules were not checked[^\]]*\]$/);
});

it('refuses a time limit that is none, whatever is asked for', async () => {
  for (const path of ['/apis', '/version', MERGES]) expect((await ask(`${path}?timeout=x`)).code).toBe(400);
});

it('refuses a record of fields that is no list', async () => {
  const refused = await ask(MERGES, { method: 'POST', body: merge('a', { managedFields: {} }) });
  expect(refused).toMatchObject({ code: 400, body: { message: expect.stringContaining('ObjectMeta.managedFields of type []v1') } });
});

describe('a watch', () => {
  it('of a version that never was ends with the advice to list again', async () => {
    const { code, text } = await ask(`${MERGES}?watch=true&resourceVersion=9999999999999999`);
    expect(code).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      type: 'ERROR',
      object: { code: 410, reason: 'Expired', message: expect.stringContaining('too large resource version: 9999999999999999 (') },
    });
  });

  it('that begins with what is there says where that ends', async () => {
    const { text } = await ask(`${MERGES}?watch=true&allowWatchBookmarks=true&labelSelector=none&timeoutSeconds=1`);
    expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });

  it.each([
    ['text/plain', 'application/json, application/yaml, application/vnd.kubernetes.protobuf'],
    ['application/yaml', 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'],
  ])('as %s is refused', async (accept, types) => {
    const refused = await ask(`${MERGES}?watch=true`, { accept });
    expect(refused.code).toBe(406);
    expect(refused.text).toContain(`only the following media types are accepted: ${types}`);
  });
});

it('shows what a strict patch would have made, its keys sorted', async () => {
  await ask(MERGES, { method: 'POST', body: merge('strict') });
  const refused = await ask(`${MERGES}/strict?fieldValidation=Strict`, { ...MERGE, body: { spec: { bogus: 1 } } });
  expect(refused.code).toBe(422);
  expect(refused.body.message).toMatch(/"spec\\":\{\\"allowDirty\\":false,\\"approval\\":\\"None\\",\\"bogus\\":1,/);
});

describe('a PUT of what was read', () => {
  /** As clients do that keep objects in maps without an order. */
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
  };

  it.each([
    ['as it was', (text: string) => text],
    ['with its keys sorted', (text: string) => JSON.stringify(sorted(JSON.parse(text)))],
    ['with space between', (text: string) => JSON.stringify(JSON.parse(text), null, 2)],
    ['without the record of fields', (text: string) => text.replace(/,"managedFields":.*?\]/, '')],
  ])('is the same, %s', async (how, sent) => {
    const name = `put-${how.replace(/\W+/g, '-')}`;
    await ask(MERGES, { method: 'POST', body: merge(name, { labels: { b: '1', a: '2' } }) });
    const { text, body: before } = await ask(`${MERGES}/${name}`);
    const body = sent(text.replace('"branch":"main"', '"branch":"next"'));
    const response = await fetch(`${url}${MERGES}/${name}`, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
    const after = await response.text();
    expect([response.status, response.headers.get('warning')]).toEqual([200, null]);
    const versions = [after, text].map((json) => json.replace(/"resourceVersion":"\d+"|"time":"[^"]*"/g, ''));
    const expected = versions[1]?.replace('"branch":"main"', '"branch":"next"').replace('"generation":1', '"generation":2');
    // Free maps such as labels keep the order in which they were sent; all else is in ours.
    const inOrder = (json = '') => json.replace('{"a":"2","b":"1"}', '{"b":"1","a":"2"}');
    expect(inOrder(versions[0])).toBe(expected);
    expect(JSON.parse(after).metadata.managedFields.map(({ time: _, ...entry }: { time: string }) => JSON.stringify(entry))).toEqual(
      before.metadata.managedFields.map(({ time: _, ...entry }: { time: string }) => JSON.stringify(entry)),
    );
    expect((await ask(`${MERGES}/${name}`)).text).toBe(after);
  });
});
