/** What the API says to writes that depend on other objects, over the wire. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { DEFAULT_LIMITS } from '#api/limits.ts';
import { silentLogger } from '#lib/log.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import { createApi } from '../api.ts';
import { personIdentity } from '../auth/identity.ts';

const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';
let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  const store = memoryStore({ kinds, admission });
  await store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', namespace: '' } });
  const identity = personIdentity('admin', 'admin');
  const tokens = { identityOf: () => identity };
  const api = createApi({ store, log: silentLogger, tokens, health: { checks: {} }, metrics: () => '', limits: DEFAULT_LIMITS });
  const server = createServer((request, response) => api.handle(request, response, { identity }));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
});
afterAll(() => stop());

async function send(method: string, path: string, body: unknown, type = 'application/json') {
  const response = await fetch(`${url}${GROUP}${path}`, { method, headers: { 'content-type': type }, body: JSON.stringify(body) });
  return { code: response.status, warning: response.headers.get('warning'), body: (await response.json()) as Any };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any kind, of which each test looks at some part
type Any = any;

const document = (kind: string, name: string, spec: object) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec });
const task = (name: string, spec: object = {}) => document('Task', name, { team: 'shop', command: 'true', ...spec });
const team = (name: string, spec: object = {}) => document('Team', name, { roles: [{ name: 'dev' }], ...spec });
const create = (plural: string, body: object, query = '') => send('POST', `/${plural}${query}`, body);
const exists = async (path: string) => (await fetch(`${url}${GROUP}${path}`)).status === 200;

describe('a Task', () => {
  it('is stored with a warning when what it waits for is not there yet, and without one when it is', async () => {
    const first = await create('tasks', task('shop-a', { dependsOn: ['b'] }));
    expect([first.code, first.warning]).toEqual([
      201,
      '299 - "spec.dependsOn[0]: there is no task \\"b\\" in team shop yet; this one stays Blocked until there is"',
    ]);
    expect(await create('tasks', task('shop-b'))).toMatchObject({ code: 201, warning: null });
    expect(await create('tasks', task('shop-c', { dependsOn: ['a', 'shop-b'] }))).toMatchObject({ code: 201, warning: null });
  });

  it.each([
    ['an update', 'PUT', 'application/json', (live: { spec: object }) => ({ ...live, spec: { ...live.spec, dependsOn: ['c'] } })],
    ['a patch', 'PATCH', 'application/merge-patch+json', () => ({ spec: { dependsOn: ['c'] } })],
    ['an apply', 'PATCH', 'application/apply-patch+yaml', () => task('shop-b', { dependsOn: ['c'] })],
  ] as const)('cannot close a circle by %s', async (_name, method, type, bodyOf) => {
    const read = async () => (await (await fetch(`${url}${GROUP}/tasks/shop-b`)).json()) as Any;
    const live = await read();
    const query = type === 'application/apply-patch+yaml' ? '?fieldManager=me&force=true' : '';
    const refused = await send(method, `/tasks/shop-b${query}`, bodyOf(live), type);
    expect([refused.code, refused.body.reason, refused.body.message]).toEqual([
      422,
      'Invalid',
      'Task.agentiso.dev "shop-b" is invalid: spec.dependsOn[0]: Invalid value: "c": tasks that wait for each other never start: b -> c -> a -> b; remove one of these dependencies (DependencyCycle)',
    ]);
    expect(refused.body.details.causes).toMatchObject([{ reason: 'FieldValueInvalid', field: 'spec.dependsOn[0]' }]);
    expect((await read()).metadata.resourceVersion).toBe(live.metadata.resourceVersion);
  });

  it.each([
    ['a creation', 'POST', '/tasks', 'application/json'],
    ['an apply', 'PATCH', '/tasks/shop-made-2?fieldManager=me', 'application/apply-patch+yaml'],
  ] as const)('says who made it from %s on, by the connection, and nothing of that is in the way of later writes', async (...given) => {
    const [, method, path, type] = given;
    const name = method === 'POST' ? 'shop-made-1' : 'shop-made-2';
    const body = { ...task(name), status: { createdBy: 'somebody else', phase: 'Succeeded' } };
    const made = await send(method, path, body, type);
    expect([made.code, made.body.status]).toEqual([201, { createdBy: 'orchestrator' }]);
    expect(JSON.stringify(made.body.metadata.managedFields)).not.toContain('createdBy');
    const again = await send('PATCH', `/tasks/${name}?fieldManager=me`, task(name), 'application/apply-patch+yaml');
    expect([again.code, again.body.status]).toEqual([200, { createdBy: 'orchestrator' }]);
    const third = await send('PATCH', `/tasks/${name}?fieldManager=me`, task(name), 'application/apply-patch+yaml');
    expect(third.body.metadata.resourceVersion).toBe(again.body.metadata.resourceVersion);
  });

  it('cannot close a circle by its creation, also when the others named it before it was there', async () => {
    await create('tasks', task('shop-p', { dependsOn: ['q'] }));
    const refused = await create('tasks', task('shop-q', { dependsOn: ['p'] }));
    expect([refused.code, refused.body.message]).toEqual([422, expect.stringContaining('q -> p -> q')]);
    expect(await exists('/tasks/shop-q')).toBe(false);
  });

  it('may have its status written in a circle that came in files', async () => {
    const { body } = await create('tasks', task('shop-s', { dependsOn: ['p'] }));
    const status = { ...body, status: { phase: 'Blocked' } };
    expect((await send('PUT', '/tasks/shop-s/status', status)).code).toBe(200);
  });

  it('cannot go to somebody its team does not have', async () => {
    await create('teams', team('crew'));
    const refused = await create('tasks', task('crew-x', { team: 'crew', assignTo: 'qa' }));
    expect([refused.code, refused.body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueNotFound',
          message: 'Not found: "qa": team crew has no agent or role of that name; its roles are dev (AssigneeNotFound)',
          field: 'spec.assignTo',
        },
      ],
    ]);
  });
});

describe('a Team', () => {
  it.each([
    ['below no parent', team('x', { parent: 'nobody' }), 'FieldValueNotFound', /spec.parent: Not found: "nobody"/],
    ['beyond its parent', team('x', { parent: 'crew' }), 'FieldValueForbidden', /team crew has no room for the 10 agents of x/],
    [
      'beyond the cap of a team',
      team('x', { roles: [{ name: 'a', count: 21 }], budget: { maxAgents: 21 } }),
      'FieldValueForbidden',
      /too many agents of one team: limit 20, used 0, asked 21/,
    ],
    ['beyond its own budget', team('x', { roles: [{ name: 'a', count: 11 }] }), 'FieldValueInvalid', /exceed budget.maxAgents/],
  ])('%s is not stored', async (_name, body, reason, says) => {
    await create('teams', team('crew'));
    const refused = await create('teams', body);
    expect([refused.code, refused.body.details.causes[0].reason, refused.body.message]).toEqual([422, reason, expect.stringMatching(says)]);
    expect(await exists('/teams/x')).toBe(false);
  });

  it('is tried out as part of a set when that is asked for, and never stored so', async () => {
    const child = team('x', { parent: 'nobody' });
    expect((await create('teams', child, '?dryRun=All&relations=Ignore')).code).toBe(201);
    expect((await create('teams', child, '?dryRun=All')).code).toBe(422);
    expect((await create('teams', child, '?relations=Ignore')).code).toBe(422);
  });
});

it('an Agent made by hand needs its team', async () => {
  const refused = await create('agents', document('Agent', 'stray', { team: 'nobody' }));
  expect([refused.code, refused.body.message]).toEqual([
    422,
    'Agent.agentiso.dev "stray" is invalid: spec.team: Not found: "nobody": there is no team of that name in namespace default; create it first (TeamNotFound)',
  ]);
  await create('teams', team('crew'));
  expect((await create('agents', document('Agent', 'helper', { team: 'crew' }))).code).toBe(201);
});
