/** What is asked without a wire is answered as over one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { ApiRequest, Connection } from '#client/connection.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { silentLogger as log } from '#lib/log.ts';
import { asCaller } from '#mcp/as-caller.ts';
import { DirectoryStore } from '#store/directory.ts';
import { ownConnection } from './own-connection.ts';
import { type ServedApi, serveApi } from './serve-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentiso-own-'));
const home = join(folder, 'home');
const TEAMS = '/apis/agentiso.dev/v1alpha1/namespaces/default/teams';
const JSON_BODY = { 'content-type': 'application/json' };
let directory: DirectoryStore;
let served: ServedApi;
let wire: Connection;
let own: Connection;
let viewer: string;

beforeAll(async () => {
  directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false });
  served = await serveApi({
    config: { home, logLevel: 'silent' },
    store: directory.store,
    log,
    metrics: () => '',
    reconcileProblem: () => undefined,
  });
  wire = socketConnection({ name: 'the daemon', socketPath: join(home, 'agentiso.sock') });
  own = ownConnection({ ask: served.ask, wire });
  viewer = `Bearer ${await served.tokens.issue({ role: 'viewer', user: 'eve' })}`;
  const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  expect((await own.request({ method: 'POST', path: '/api/v1/namespaces', headers: JSON_BODY, body: namespace })).status).toBe(201);
  expect((await own.request({ method: 'POST', path: TEAMS, headers: JSON_BODY, body: team('a') })).status).toBe(201);
});
afterAll(async () => {
  own.close();
  await served.close();
  await directory.close();
  rmSync(folder, { recursive: true });
});

function team(name: string, more: object = {}): string {
  const spec = { roles: [{ name: 'dev' }], ...more };
  return JSON.stringify({ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name }, spec });
}

const as = (connection: Connection, who: string) => asCaller(connection, { viewer, stranger: 'Bearer nonsense' }[who]);

it.each<{ name: string; who?: string; request: ApiRequest; status: number }>([
  { name: 'an object', request: { method: 'GET', path: `${TEAMS}/a` }, status: 200 },
  {
    name: 'a list as a table',
    request: { method: 'GET', path: TEAMS, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
    status: 200,
  },
  { name: 'what is not there', request: { method: 'GET', path: `${TEAMS}/b` }, status: 404 },
  { name: 'as yaml', request: { method: 'GET', path: `${TEAMS}/b`, headers: { accept: 'application/yaml' } }, status: 404 },
  { name: 'a form that nobody has', request: { method: 'GET', path: `${TEAMS}/a`, headers: { accept: 'text/csv' } }, status: 406 },
  { name: 'a bad timeout', request: { method: 'GET', path: `${TEAMS}/a?timeout=x` }, status: 400 },
  {
    name: 'an unknown field, with a warning',
    request: { method: 'POST', path: `${TEAMS}?dryRun=All&fieldValidation=Warn`, headers: JSON_BODY, body: team('c', { rolls: 1 }) },
    status: 201,
  },
  { name: 'a bad body', request: { method: 'POST', path: TEAMS, headers: JSON_BODY, body: '{' }, status: 400 },
  { name: 'a viewer who reads', who: 'viewer', request: { method: 'GET', path: `${TEAMS}/a` }, status: 200 },
  { name: 'a viewer who writes', who: 'viewer', request: { method: 'DELETE', path: `${TEAMS}/a` }, status: 403 },
  { name: 'a stranger', who: 'stranger', request: { method: 'GET', path: `${TEAMS}/a` }, status: 401 },
  {
    name: 'somebody who would be somebody else',
    request: { method: 'GET', path: `${TEAMS}/a`, headers: { 'impersonate-user': 'x' } },
    status: 403,
  },
  { name: 'what is no object', request: { method: 'GET', path: '/version' }, status: 200 },
  { name: 'what is nowhere', request: { method: 'GET', path: '/apis/nobody/v1/things' }, status: 404 },
])('answers $name as over the wire', async ({ who = '', request, status }) => {
  const [here, there] = await Promise.all([as(own, who).request(request), as(wire, who).request(request)]);
  expect([here.status, here.headers['content-type'], here.headers['warning']]).toEqual([
    status,
    there.headers['content-type'],
    there.headers['warning'],
  ]);
  expect(there.status).toBe(status);
  expect(withoutTimes(await here.text())).toBe(withoutTimes(await there.text()));
});

/** What was tried twice has two times and two identifiers. */
function withoutTimes(text: string): string {
  return text.replace(/"(?:creationTimestamp|time|uid|age)":"[^"]*"/g, '').replace(/"\d+m?s"/g, '');
}

it('gives an object as the text says it, and nobody can change the one that the daemon keeps', async () => {
  const response = await own.request({ method: 'GET', path: `${TEAMS}/a` });
  expect(response.object).toEqual(JSON.parse(await response.text()));
  const { metadata, spec } = response.object as { metadata: { labels?: object }; spec: { roles: object[] } };
  expect(() => Object.assign(metadata, { labels: { mine: 'yes' } })).toThrow(TypeError);
  expect(() => spec.roles.push({ name: 'mine' })).toThrow(TypeError);
});

it.each([
  ['a list', { method: 'GET', path: TEAMS }],
  ['a table of one', { method: 'GET', path: `${TEAMS}/a`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }],
  ['what is not there', { method: 'GET', path: `${TEAMS}/b` }],
] satisfies [string, ApiRequest][])('%s has no object', async (_, request) => {
  expect((await own.request(request)).object).toBeUndefined();
});

it('follows over the wire', async () => {
  const ending = new AbortController();
  const response = await own.request({ method: 'GET', path: `${TEAMS}?watch=true`, signal: ending.signal });
  for await (const line of response.lines()) {
    expect(JSON.parse(line)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    ending.abort();
    break;
  }
});

it('asks nothing for somebody who has gone', async () => {
  await expect(own.request({ method: 'GET', path: `${TEAMS}/a`, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
});
