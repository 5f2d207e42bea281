import { beforeEach, describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import { systemClock } from '#lib/clock.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import { agentIdentity, type Identity, personIdentity } from '../auth/identity.ts';
import { decodePatch } from '../body/decode-patch.ts';
import type { Call, Serving } from '../call.ts';
import { toStatusError } from '../errors.ts';
import { type Route, routeOf } from '../route.ts';
import { createSources } from '../sources.ts';
import { applyConfiguration } from './apply.ts';

const TASKS = '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks';
const UID = '00000000-0000-0000-0000-000000000001';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

let store: Store;

beforeEach(async () => {
  store = memoryStore({ kinds, admission });
  await store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', namespace: '' } });
});

interface Applied {
  readonly code: number | undefined;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

interface Asking {
  readonly query?: Record<string, string>;
  readonly identity?: Identity;
}

const admin = personIdentity('admin', 'admin');

async function apply(name: string, body: unknown, { query = {}, identity = admin }: Asking = {}): Promise<Applied> {
  const route = routeOf('PATCH', `${TASKS}/${name}`, false) as Route;
  const call: Call = {
    route,
    query: new URLSearchParams({ fieldManager: 'one', ...query }),
    headers: {},
    identity,
    shape: { as: 'object', version: 'v1', format: 'json' },
    warnings: [],
    body: () => Promise.reject(new Error('read already')),
  };
  const serving: Serving = {
    store,
    clock: systemClock,
    ...createSources(store, { clock: systemClock, nodeName: 'here' }),
    lookup: (reference) => store.get(reference),
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const patch = decodePatch('application/apply-patch+yaml', Buffer.from(text));
  if (patch.type !== 'apply-patch') throw new Error('another patch');
  try {
    const answer = await applyConfiguration(call, serving, patch);
    return { code: answer.status, body: JSON.parse(String(answer.body)), warnings: call.warnings };
  } catch (error) {
    const { status } = toStatusError(error, route);
    return { code: status.code, body: { ...status }, warnings: call.warnings };
  }
}

const task = <M extends object | null>(metadata: M, spec: object = {}) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata,
  spec: { team: 'shop', command: 'make', ...spec },
});

const stored = (name: string) => store.get({ kind: 'Task', namespace: 'default', name }) as KindObject;

describe('the type of what is applied', () => {
  it.each([
    ['another version', { apiVersion: 'agentiso.dev/v9' }, 'agentiso.dev/v9, Kind=Task'],
    ['another group', { apiVersion: 'v1' }, '/v1, Kind=Task'],
    ['another kind', { kind: 'Team' }, 'agentiso.dev/v1alpha1, Kind=Team'],
    ['no kind', { kind: undefined }, 'agentiso.dev/v1alpha1, Kind='],
    ['no apiVersion', { apiVersion: undefined }, '/, Kind=Task'],
    ['an apiVersion that is none', { apiVersion: 'a/b/c' }, '/, Kind='],
    ['an apiVersion that is no text', { apiVersion: 1 }, '/, Kind=Task'],
  ])('%s is refused', async (_name, change, text) => {
    const { code, body } = await apply('a', { ...task({ name: 'a' }), ...change });
    expect([code, body['message']]).toEqual([400, `invalid object type: ${text}`]);
  });
});

describe('the identity of what is applied', () => {
  const undeterminable = 'the name of the object (a based on URL) was undeterminable: name must be provided';
  const mismatch = 'the namespace of the provided object does not match the namespace sent on the request';

  it.each([
    ['no name', {}, undeterminable],
    ['no metadata', null, undeterminable],
    ['a generated name', { generateName: 'a-' }, undeterminable],
    ['another name', { name: 'b' }, 'the name of the object (b) does not match the name on the URL (a)'],
    ['another namespace', { name: 'a', namespace: 'other' }, mismatch],
    ['managedFields', { name: 'a', managedFields: [] }, 'metadata.managedFields must be nil'],
  ])('%s is refused', async (_name, metadata, message) => {
    const { code, body } = await apply('a', task(metadata));
    expect([code, body['message']]).toEqual([400, message]);
  });

  it('needs no name for what has one already', async () => {
    await apply('a', task({ name: 'a' }));
    expect((await apply('a', task({}, { title: 'x' }))).body).toMatchObject({ metadata: { name: 'a' }, spec: { title: 'x' } });
  });

  it('what does not fit its schema is said first, and named as it was sent', async () => {
    expect(await apply('a', task({}, { bogus: 1 }))).toMatchObject({
      code: 500,
      body: {
        message: 'failed to create typed patch object (/; agentiso.dev/v1alpha1, Kind=Task): .spec.bogus: field not declared in schema',
      },
    });
  });

  it('a uid of what is not there is a conflict', async () => {
    expect(await apply('a', task({ name: 'a', uid: UID }))).toMatchObject({
      code: 409,
      body: {
        message: `Operation cannot be fulfilled on tasks.agentiso.dev "a": uid mismatch: the provided object specified uid ${UID}, and no existing object was found`,
        details: { name: 'a', group: 'agentiso.dev', kind: 'tasks' },
      },
    });
    expect(stored('a')).toBeUndefined();
  });

  it('a uid cannot be changed', async () => {
    await apply('a', task({ name: 'a' }));
    const { uid } = stored('a').metadata;
    for (const same of [uid, '', null]) expect((await apply('a', task({ name: 'a', uid: same }, { title: 'x' }))).code).toBe(200);
    expect(await apply('a', task({ name: 'a', uid: UID }, { title: 'y' }))).toMatchObject({
      code: 422,
      body: { message: `Task.agentiso.dev "a" is invalid: metadata.uid: Invalid value: "${UID}": field is immutable` },
    });
  });

  it('a resourceVersion must be the current one, but does not matter for what is not there', async () => {
    expect((await apply('a', task({ name: 'a', resourceVersion: '1' }))).code).toBe(201);
    const { resourceVersion } = stored('a').metadata;
    expect((await apply('a', task({ name: 'a', resourceVersion }, { title: 'x' }))).code).toBe(200);
    expect((await apply('a', task({ name: 'a', resourceVersion: '' }, { title: 'y' }))).code).toBe(200);
    for (const uid of [undefined, UID]) {
      const { code, body } = await apply('a', task({ name: 'a', resourceVersion, uid }, { title: 'z' }));
      expect([code, body['message']]).toEqual([
        409,
        'Operation cannot be fulfilled on tasks.agentiso.dev "a": the object has been modified; please apply your changes to the latest version and try again',
      ]);
    }
    expect(stored('a').spec).toMatchObject({ title: 'y' });
  });
});

describe('keys that appear twice', () => {
  const twice = 'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: a\nspec:\n  team: shop\n  command: a\n  command: b\n';

  it('are refused where it is asked for', async () => {
    const { code, body } = await apply('a', twice, { query: { fieldValidation: 'Strict' } });
    expect([code, body['message']]).toEqual([
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 8: key "command" already set in map',
    ]);
  });

  it('are warned of otherwise', async () => {
    const { code, warnings } = await apply('a', twice);
    expect([code, warnings]).toEqual([201, ['line 8: key "command" already set in map']]);
  });
});

it('keeps the applied configuration without what the URL says', async () => {
  const before = task({ name: 'a', namespace: 'default', annotations: { [LAST_APPLIED]: JSON.stringify(task({ name: 'a' })) } });
  await store.create(before);
  await apply('a', task({ name: 'a' }, { title: 'x' }), { query: { fieldManager: 'kubectl' } });
  expect(stored('a').metadata.annotations?.[LAST_APPLIED]).toBe(
    '{"apiVersion":"agentiso.dev/v1alpha1","kind":"Task","metadata":{"name":"a"},"spec":{"command":"make","team":"shop","title":"x"}}\n',
  );
});

describe('the status endpoint', () => {
  const config = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name: 'a' } };

  it('forgets its last manager when that gives up its last field', async () => {
    await store.create(task({ name: 'a', namespace: 'default' }));
    await apply('a/status', { ...config, status: { owner: 'me' } });
    const owned = (stored('a').metadata.managedFields ?? []).filter(({ manager }) => manager === 'one');
    expect(owned).toHaveLength(1);
    const key = { kind: 'Task', namespace: 'default', name: 'a' };
    await store.modify(key, (current) => current as KindObject, { subresource: 'status', track: () => owned });
    await apply('a/status', config);
    expect(stored('a').metadata.managedFields).toBeUndefined();
  });

  it('creates nothing', async () => {
    expect((await apply('a/status', { ...config, status: { owner: 'me' } })).code).toBe(404);
  });
});

it('tells an agent nothing about objects of others', async () => {
  await apply('a', task({ name: 'a' }, { team: 'other', title: 'secret' }));
  const identity = agentIdentity({ namespace: 'default', team: 'shop', name: 'shop-lead-0' });
  const guess = task({ name: 'a', uid: UID }, { title: 'guess' });
  expect((await apply('a', guess, { identity, query: { fieldManager: 'two' } })).code).toBe(403);
});
