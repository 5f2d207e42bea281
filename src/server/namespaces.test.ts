/** Namespaces over the wire: what holds them, and what clients see of that. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLY, askServer, MERGE } from './asking.fixture.ts';

const NAMESPACES = '/api/v1/namespaces';
const namespace = (metadata: object, more: object = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata, ...more });

let server: Awaited<ReturnType<typeof askServer>>;

beforeAll(async () => {
  server = await askServer();
});

afterAll(() => server.stop());

const create = (name: string, more: object = {}) => server.ask(NAMESPACES, { method: 'POST', body: namespace({ name }, more) });

describe('a namespace', () => {
  it('is held by its spec, has no generation, and nothing of ours', async () => {
    const { body } = await create('held', { spec: { finalizers: ['a.b/c'] } });
    expect(body).toMatchObject({ spec: { finalizers: ['a.b/c', 'kubernetes'] }, status: { phase: 'Active' } });
    expect(body.metadata).not.toHaveProperty('generation');
    expect(body.metadata).not.toHaveProperty('finalizers');
    const labels = { '.': {}, 'f:kubernetes.io/metadata.name': {} };
    expect(body.metadata.managedFields).toMatchObject([{ fieldsV1: { 'f:metadata': { 'f:labels': labels } } }]);
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain('finalizers');
  });

  it('gets the label with its name also when the name was made for it', async () => {
    const { body } = await server.ask(NAMESPACES, { method: 'POST', body: namespace({ generateName: 'made-' }) });
    expect(body.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': body.metadata.name });
  });

  it('stays while its spec holds it, and says so', async () => {
    await create('ending');
    const deleted = await server.ask(`${NAMESPACES}/ending`, { method: 'DELETE' });
    expect(deleted.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' }, spec: { finalizers: ['kubernetes'] } });
    expect(deleted.body.metadata).not.toHaveProperty('finalizers');
    expect((await server.ask(`${NAMESPACES}/ending`)).body.metadata).not.toHaveProperty('finalizers');
    const { items } = (await server.ask(NAMESPACES)).body;
    expect(items.find(({ metadata }: never) => metadata['name'] === 'ending').metadata).not.toHaveProperty('finalizers');
  });

  it.each([
    ['put', '', (body: object) => ({ method: 'PUT', body })],
    ['merge-patch', '', () => ({ ...MERGE, body: { metadata: { finalizers: null }, spec: { finalizers: [] } } })],
    ['apply', '?fieldManager=a&force=true', () => ({ ...APPLY, body: namespace({ name: 'apply' }, { spec: { finalizers: [] } }) })],
  ])('is not let go by %s', async (name, query, asking) => {
    await create(name);
    const { body } = await server.ask(`${NAMESPACES}/${name}`, { method: 'DELETE' });
    const { code } = await server.ask(`${NAMESPACES}/${name}${query}`, asking({ ...body, spec: {} }));
    expect(code).toBe(200);
    expect((await server.ask(`${NAMESPACES}/${name}`)).body.spec).toEqual({ finalizers: ['kubernetes'] });
  });

  it('is let go by whoever finalizes it', async () => {
    const { body } = await create('final');
    const path = `${NAMESPACES}/final/finalize`;
    const more = await server.ask(path, { method: 'PUT', body: { ...body, spec: { finalizers: ['kubernetes', 'x.y/z'] } } });
    expect(more).toMatchObject({ code: 200, body: { spec: { finalizers: ['kubernetes', 'x.y/z'] }, status: { phase: 'Active' } } });
    expect((await server.ask(path)).code).toBe(405);
  });

  it('takes metadata along with a status', async () => {
    const { body } = await create('status');
    const conditions = [{ type: 'Seen', status: 'True', reason: 'E2E', message: 'x' }];
    const patch = { metadata: { annotations: { a: 'b' } }, spec: { finalizers: [] }, status: { conditions } };
    const patched = await server.ask(`${NAMESPACES}/status/status`, { ...MERGE, body: patch });
    expect(patched).toMatchObject({
      code: 200,
      body: { metadata: { annotations: { a: 'b' } }, spec: body.spec, status: { phase: 'Active', conditions } },
    });
    const put = { ...patched.body, metadata: { ...patched.body.metadata, annotations: { a: 'c' } } };
    const replaced = await server.ask(`${NAMESPACES}/status/status`, { method: 'PUT', body: put });
    expect(replaced.body.metadata.annotations).toEqual({ a: 'c' });
  });

  it.each([
    ['status', { status: { phase: 'Odd' } }, 'status.Phase: Invalid value: "Odd": may only be \'Active\' if `deletionTimestamp` is empty'],
    [
      'finalize',
      { spec: { finalizers: ['bare'] } },
      'spec.finalizers[0]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ])('has no odd %s', async (part, change, problem) => {
    const { body } = await create(`odd-${part}`);
    const refused = await server.ask(`${NAMESPACES}/odd-${part}/${part}`, { method: 'PUT', body: { ...body, ...change } });
    expect(refused).toMatchObject({ code: 422, body: { message: `Namespace "odd-${part}" is invalid: ${problem}` } });
  });

  it('is not typed again in a list', async () => {
    const { body } = await server.ask(NAMESPACES);
    expect(body).toMatchObject({ apiVersion: 'v1', kind: 'NamespaceList' });
    for (const item of body.items) expect(Object.keys(item)).toEqual(['metadata', 'spec', 'status']);
  });
});

describe('a namespace with dots in its name', () => {
  it('is refused for them', async () => {
    const message = 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots';
    expect(await create('a.b')).toMatchObject({ code: 422, body: { message } });
  });
});
