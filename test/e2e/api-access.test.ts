/** Who may ask the API for what: web pages, strangers, viewers, and agents of one team beside another. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersIn, rawConnection } from '../support/api-raw.ts';
import { createTeams, EVENTS_PATH, GROUP_PATH, MARKER, OURS, THEIRS } from '../support/api-teams.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { type ServedHome, serveHome } from '../support/serve-api.ts';

const LEAD = `default/${OURS}/lead`;
const CODER = `default/${OURS}/coder`;
const AGENTS = [LEAD, CODER];
const { folder, remove } = temporaryFolder();
let served: ServedHome;
const call: ServedHome['api']['call'] = (...args) => served.api.call(...args);

beforeAll(async () => {
  served = await serveHome(join(folder, 'home'), AGENTS);
  await createTeams(served.api);
});
afterAll(async () => {
  const tokens = ['viewer', ...AGENTS].map((who) => served.token(who));
  const { code, stderr } = await served.end();
  remove();
  expect(code).toBe(0);
  for (const token of [...tokens, served.server.token]) expect(stderr).not.toContain(token);
});

interface Discovered {
  readonly path: string;
  readonly verbs: readonly string[];
}

/** Every path that discovery leads to. */
async function everyPath(): Promise<Discovered[]> {
  const { paths } = (await call('GET', '/')).json() as { paths: string[] };
  const groups = paths.filter((path) => /^\/(api\/v1|apis\/[^/]+\/[^/]+)$/.test(path));
  expect(groups.length).toBeGreaterThan(4);
  const found: Discovered[] = paths.map((path) => ({ path, verbs: ['get'] }));
  for (const group of groups) {
    const { resources } = (await call('GET', group)).json() as { resources: { name: string; namespaced: boolean; verbs: string[] }[] };
    for (const { name, namespaced, verbs } of resources) {
      const [plural, subresource] = name.split('/');
      const collection = `${group}/${namespaced ? 'namespaces/default/' : ''}${plural}`;
      if (subresource === undefined) found.push({ path: collection, verbs: verbs.filter((verb) => verb !== 'get') });
      found.push({ path: `${collection}/${OURS}${subresource ? `/${subresource}` : ''}`, verbs: verbs.filter((verb) => verb !== 'list') });
    }
  }
  return found;
}

const isHealth = (path: string) => /^\/(healthz|livez|readyz)/.test(path);

describe('a web page', () => {
  const headersOf = { 'another name for this machine': { Host: 'evil.example' }, 'that name with the port': { Host: 'evil.example:443' } };
  it.each(Object.entries(headersOf))('that reaches the server under %s gets nothing', async (_, headers) => {
    expect((await call('GET', `${GROUP_PATH}/teams`, { headers })).status).toBe(403);
    expect((await call('GET', '/version', { headers })).status).toBe(403);
  });

  it.each(['http://evil.example', 'https://localhost:1', 'null', 'file://', ''])(
    'of %j may not ask, and is never invited',
    async (origin) => {
      const path = `${GROUP_PATH}/teams`;
      for (const [method, headers] of [
        ['GET', { Origin: origin }],
        ['POST', { Origin: origin }],
        ['OPTIONS', { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' }],
      ] as const) {
        const answer = await call(method, path, { headers });
        expect([method, answer.status]).toEqual([method, expect.toSatisfy((code: number) => code === 403 || code === 405)]);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      expect((await call('GET', path, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(403);
    },
  );

  it('finds no method that does without a question', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'HEAD']) {
      const { status, text, headers } = await call(method, '/apis', { token: '' });
      expect([method, status]).toEqual([method, expect.toSatisfy((code: number) => code >= 400)]);
      expect(text).not.toContain('agentiso.dev');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('a stranger', () => {
  it('is told to log in on every path but health', async () => {
    const paths = await everyPath();
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const { path } of [...paths, { path: '/nowhere' }, { path: '/apis/none/v1' }, { path: `${GROUP_PATH}/teams?watch=true` }]) {
      for (const method of isHealth(path) ? [] : methods) {
        for (const token of ['', 'wrong', `${served.server.token}x`, served.server.token.slice(0, -1)]) {
          if (token !== '' && method !== 'GET') continue;
          const { status, headers } = await call(method, path, { token });
          expect([method, path, status]).toEqual([method, path, 401]);
          expect(headers['www-authenticate']).toBe('Bearer');
        }
      }
    }
    for (const path of ['/healthz', '/livez', '/readyz', '/healthz/ping'])
      expect((await call('GET', path, { token: '' })).status).toBe(200);
  });

  it.each([
    ['in another scheme', (token: string) => ({ Authorization: `Basic ${token}` })],
    ['as a password', (token: string) => ({ Authorization: `Basic ${Buffer.from(`admin:${token}`).toString('base64')}` })],
    ['twice', (token: string) => ({ Authorization: `Bearer wrong, Bearer ${token}` })],
    ['in a cookie', (token: string) => ({ Cookie: `token=${token}` })],
    ['as a client certificate would be named', () => ({ 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' })],
    ['with more behind it', (token: string) => ({ Authorization: `Bearer ${token} more` })],
  ])('does not get in with a token %s', async (_, headers) => {
    expect((await call('GET', '/apis', { token: '', headers: headers(served.server.token) })).status).toBe(401);
    expect((await call('GET', `/apis?access_token=${served.server.token}&token=${served.server.token}`, { token: '' })).status).toBe(401);
  });
});

describe('a viewer', () => {
  it('reads everything and can write nothing, on any path with any method', async () => {
    const token = served.token('viewer');
    const before = await snapshot();
    for (const { path, verbs } of await everyPath()) {
      if (verbs.includes('list') || verbs.includes('get')) {
        const { status } = await call('GET', path, { token });
        // To run something inside an agent is to change it, whatever the method.
        const accepted = /\/(exec|attach|portforward)$/.test(path) ? [403] : [200, 404];
        expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => accepted.includes(code))]);
      }
      if (path.includes('review') || isHealth(path)) continue;
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const headers = method === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
        const { status } = await call(method, path, { token, body: { metadata: { labels: { by: 'viewer' } } }, headers });
        expect([method, path, status]).toEqual([method, path, expect.toSatisfy((code: number) => [400, 403, 404, 405].includes(code))]);
      }
    }
    expect(await snapshot()).toEqual(before);
  });
});

/** Everything stored, as the admin sees it. */
async function snapshot(): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const path of [
    ...['teams', 'agents', 'tasks', 'merges'].map((plural) => `${GROUP_PATH}/${plural}`),
    EVENTS_PATH,
    '/api/v1/configmaps',
    '/api/v1/namespaces',
  ]) {
    const { items } = (await call('GET', path)).json() as { items: unknown[] };
    all[path] = JSON.stringify(items);
  }
  return all;
}

const PLURALS = ['teams', 'agents', 'tasks', 'merges'];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
];
const WATCH_ACCEPTS = [
  'application/json',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
];

describe.each(AGENTS)('the agent %s', (who) => {
  const ask: ServedHome['api']['call'] = (method, path, options = {}) =>
    served.api.call(method, path, { ...options, token: served.token(who) });

  it('lists its own team only, in every form, by every selector, page by page', async () => {
    const selectors = [
      '',
      '&limit=1',
      `&labelSelector=secret%3D${MARKER}`,
      `&fieldSelector=metadata.name%3D${THEIRS}`,
      `&fieldSelector=spec.team%3D${THEIRS}`,
      '&resourceVersion=0',
      '&limit=500&pretty=true',
      '&includeObject=Object',
    ];
    for (const path of [
      ...PLURALS.map((plural) => `${GROUP_PATH}/${plural}`),
      EVENTS_PATH,
      '/apis/events.k8s.io/v1/namespaces/default/events',
    ]) {
      for (const selector of selectors) {
        for (const accept of ACCEPTS) {
          const { status, text } = await ask('GET', `${path}?x=y${selector}`, { headers: { Accept: accept } });
          expect([path, selector, accept, status]).toEqual([
            path,
            selector,
            accept,
            expect.toSatisfy((code: number) => code === 200 || code === 400),
          ]);
          expect(text).not.toContain(MARKER);
          expect(text).not.toContain(THEIRS);
        }
      }
      const all = (await ask('GET', path)).json() as { items: { metadata: { name: string } }[]; metadata: Record<string, unknown> };
      expect(all.items.length).toBeGreaterThan(0);
      // How many there are beyond a page tells of others.
      expect((await ask('GET', `${path}?limit=1`)).json().metadata.remainingItemCount).toBeUndefined();
      let token = '';
      const paged: string[] = [];
      do {
        const page = (await ask('GET', `${path}?limit=1&continue=${token}`)).json() as typeof all;
        paged.push(...page.items.map(({ metadata }) => metadata.name));
        token = String(page.metadata['continue'] ?? '');
        expect(Buffer.from(token, 'base64url').toString()).not.toContain(THEIRS);
      } while (token !== '');
      expect(paged).toEqual(all.items.map(({ metadata }) => metadata.name));
    }
  });

  it('cannot tell an object of another team from one that does not exist', async () => {
    const names: Record<string, string> = { teams: THEIRS, agents: `${THEIRS}-worker`, tasks: `${THEIRS}-one`, merges: `${THEIRS}-merge` };
    const attempts: readonly (readonly [string, string, { metadata?: object; status?: object } | undefined, string])[] = [
      ['GET', '', undefined, ''],
      ['GET', '/status', undefined, ''],
      ['PUT', '', { metadata: { resourceVersion: '1' } }, 'application/json'],
      ['PUT', '/status', { metadata: { resourceVersion: '1' } }, 'application/json'],
      ['PATCH', '', { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json'],
      ['PATCH', '/status', { status: { phase: 'Failed' } }, 'application/merge-patch+json'],
      ['PATCH', '?fieldManager=x&force=true', {}, 'application/apply-patch+yaml'],
      ['DELETE', '', undefined, ''],
    ];
    const before = await snapshot();
    for (const plural of PLURALS) {
      for (const [method, rest, body, type] of attempts) {
        const answers = [];
        for (const name of [names[plural] ?? '', `${THEIRS}-nothing`]) {
          const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`;
          const object = body && {
            apiVersion: 'agentiso.dev/v1alpha1',
            kind,
            spec: { team: THEIRS, title: 'x', command: 'true' },
            ...body,
            metadata: { ...body.metadata, name },
          };
          const options = body ? { body: object, headers: { 'Content-Type': type } } : {};
          const { status, text } = await ask(method, `${GROUP_PATH}/${plural}/${name}${rest}`, options);
          expect([method, plural, rest, status]).toEqual([
            method,
            plural,
            rest,
            expect.toSatisfy((code: number) => code === 403 || code === 404),
          ]);
          expect(text).not.toContain(MARKER);
          answers.push(`${status} ${text.replaceAll(name, 'NAME')}`);
        }
        expect([method, plural, rest, answers[0]]).toEqual([method, plural, rest, answers[1]]);
      }
      for (const query of ['', `?labelSelector=secret%3D${MARKER}`]) {
        expect([plural, (await ask('DELETE', `${GROUP_PATH}/${plural}${query}`)).status]).toEqual([plural, 403]);
      }
      const watched = await ask('GET', `${GROUP_PATH}/${plural}/${names[plural]}?watch=true&timeoutSeconds=1`);
      expect(watched.text).not.toContain(MARKER);
      const path = `/apis/agentiso.dev/v1alpha1/watch/namespaces/default/${plural}/${names[plural]}?timeoutSeconds=1`;
      expect((await ask('GET', path)).text).not.toContain(MARKER);
    }
    for (const path of [`${EVENTS_PATH}/${THEIRS}.1`, `/apis/events.k8s.io/v1/namespaces/default/events/${THEIRS}.1`]) {
      const { status, text } = await ask('GET', path);
      expect([status, text.includes(MARKER)]).toEqual([404, false]);
    }
    expect(await snapshot()).toEqual(before);
  });

  it('is shown nothing outside of its namespace or besides its team, and no metrics', async () => {
    for (const path of [
      ...PLURALS.map((plural) => `/apis/agentiso.dev/v1alpha1/${plural}`),
      ...PLURALS.map((plural) => `/apis/agentiso.dev/v1alpha1/namespaces/other/${plural}`),
      '/api/v1/events',
      '/api/v1/namespaces',
      '/api/v1/namespaces/default',
      '/api/v1/configmaps',
      '/api/v1/namespaces/default/configmaps',
      '/api/v1/namespaces/default/configmaps/theirs',
      '/apis/coordination.k8s.io/v1/namespaces/default/leases',
      '/metrics',
    ]) {
      for (const query of ['', '?watch=true&timeoutSeconds=1']) {
        const { status, text } = await ask('GET', `${path}${query}`);
        expect([path, status]).toEqual([path, 403]);
        expect(text).not.toContain(MARKER);
      }
    }
  });

  it('watches its own team only, through all that happens to another', async () => {
    const token = served.token(who);
    const paths = [...PLURALS.map((plural) => `${GROUP_PATH}/${plural}`), EVENTS_PATH];
    const version = ((await call('GET', `${GROUP_PATH}/teams`)).json() as { metadata: { resourceVersion: string } }).metadata
      .resourceVersion;
    const starts = [
      '',
      `&resourceVersion=${version}`,
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      `&labelSelector=secret%3D${MARKER}`,
      `&fieldSelector=metadata.name%3D${THEIRS}-new`,
    ];
    const watches = await Promise.all(
      paths.flatMap((path) =>
        starts.flatMap((start) =>
          WATCH_ACCEPTS.map((accept) => served.api.watch(`${path}?watch=true${start}`, { token, headers: { Accept: accept } })),
        ),
      ),
    );
    const task = (team: string, name: string) => ({
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name, labels: { secret: MARKER } },
      spec: { team, title: MARKER, command: 'true' },
    });
    const theirs = `${THEIRS}-new`;
    expect((await call('POST', `${GROUP_PATH}/tasks`, { body: task(THEIRS, theirs) })).status).toBe(201);
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    expect((await call('PATCH', `${GROUP_PATH}/tasks/${theirs}`, { body: { spec: { priority: 1 } }, headers: merge })).status).toBe(200);
    expect((await call('PATCH', `${GROUP_PATH}/tasks/${theirs}`, { body: { metadata: { labels: null } }, headers: merge })).status).toBe(
      200,
    );
    expect((await call('DELETE', `${GROUP_PATH}/tasks/${theirs}`)).status).toBe(200);
    const own = `${OURS}-end-${who.split('/').at(-1)}`;
    const last = { ...task(OURS, own), metadata: { name: own }, spec: { team: OURS, title: 'the last', command: 'true' } };
    expect((await call('POST', `${GROUP_PATH}/tasks`, { body: last })).status).toBe(201);
    const plain = await served.api.watch(`${GROUP_PATH}/tasks?watch=true`, { token });
    await plain.next(({ object }) => object.metadata.name === own);
    for (const watch of [...watches, plain]) {
      expect(JSON.stringify(watch.events)).not.toContain(MARKER);
      expect(JSON.stringify(watch.events)).not.toContain(THEIRS);
      watch.stop();
    }
  });

  it('creates Tasks of its own team and of no other, in every way there is', async () => {
    const task = (team: string, name: string) => ({
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name },
      spec: { team, title: 'asked for', prompt: 'please' },
    });
    const short = who.split('/').at(-1);
    const path = `${GROUP_PATH}/tasks`;
    const create = async (team: string, name: string) => (await ask('POST', path, { body: task(team, name) })).status;
    const apply = async (team: string, name: string) =>
      (
        await ask('PATCH', `${path}/${name}?fieldManager=x`, {
          body: task(team, name),
          headers: { 'Content-Type': 'application/apply-patch+yaml' },
        })
      ).status;
    expect(await create(OURS, `${OURS}-of-${short}`)).toBe(201);
    expect(await create(THEIRS, `${OURS}-for-others`)).toBe(403);
    expect(await create(OURS, 'free-name')).toBe(403);
    expect(await create(THEIRS, `${THEIRS}-x`)).toBe(403);
    expect(await apply(THEIRS, `${THEIRS}-x`)).toBe(403);
    expect(await apply(THEIRS, `${THEIRS}-one`)).toBeGreaterThanOrEqual(403);
    // The name of theirs is taken, but that must not show: it starts like ours does.
    expect(await create(OURS, `${THEIRS}-one`)).toBe(await create(OURS, `${THEIRS}-one`));
    const isLead = short === 'lead';
    const changed = { spec: { priority: 2 } };
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    expect((await ask('PATCH', `${path}/${OURS}-of-${short}`, { body: changed, headers })).status).toBe(isLead ? 200 : 403);
    expect(
      (await ask('PATCH', `${path}/${OURS}-of-${short}`, { body: { spec: { team: THEIRS } }, headers })).status,
    ).toBeGreaterThanOrEqual(400);
    expect((await ask('PATCH', `${path}/${OURS}-of-${short}/status`, { body: { status: { phase: 'Succeeded' } }, headers })).status).toBe(
      403,
    );
    expect((await ask('DELETE', `${path}/${OURS}-of-${short}`)).status).toBe(403);
    expect((await ask('PATCH', `${GROUP_PATH}/teams/${OURS}`, { body: { spec: { description: 'x' } }, headers })).status).toBe(403);
    expect((await ask('POST', `${GROUP_PATH}/agents`, { body: { ...task(OURS, `${OURS}-x`), kind: 'Agent' } })).status).toBe(403);
    const own = (await ask('GET', `${path}/${OURS}-of-${short}`)).json() as { spec: { team: string }; status?: { phase?: string } };
    expect([own.spec.team, own.status?.phase]).not.toContain('Succeeded');
    expect(own.spec.team).toBe(OURS);
  });

  it('cannot become somebody else', async () => {
    for (const headers of [
      { 'Impersonate-User': 'admin' },
      { 'Impersonate-Group': 'system:masters' },
      { 'Impersonate-Uid': '1' },
      { 'Impersonate-Extra-Scopes': 'all' },
    ]) {
      expect((await ask('GET', `${GROUP_PATH}/teams`, { headers })).status).toBe(403);
    }
    const { status, text } = await ask('GET', `${GROUP_PATH}/teams`, {
      headers: { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' },
    });
    expect([status, text.includes(MARKER)]).toEqual([200, false]);
  });
});

it('a name that is not ours is refused before anything else of a raw request is looked at', async () => {
  const connection = await rawConnection(served.server);
  connection.send(
    `GET /version HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${served.server.token}\r\nConnection: close\r\n\r\n`,
  );
  expect(answersIn(await connection.closed)).toEqual([403]);
});
