import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, type Asked, DISCOVERY, listOf, runIn, startApiServer, TEAMS, team } from '../api-server.fixture.ts';

const now = Date.now();
/** Days do not change while the test runs. */
const ago = (days: number) => new Date(now - days * 86_400_000 - 60_000).toISOString();
const EVENTS = '/api/v1/namespaces/default/events';
const events = [
  {
    metadata: { name: 'b', namespace: 'default' },
    type: 'Warning',
    reason: 'Late',
    message: ' slow ',
    firstTimestamp: ago(30),
    lastTimestamp: ago(30),
    involvedObject: { kind: 'Team', name: 'crew' },
  },
  {
    metadata: { name: 'a', namespace: 'default' },
    type: 'Normal',
    reason: 'Made',
    message: 'made',
    firstTimestamp: ago(300),
    lastTimestamp: ago(300),
    involvedObject: { kind: 'Team', name: 'crew' },
  },
];

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({
    ...DISCOVERY,
    '/version': () => ({ json: { major: '1', minor: '35', gitVersion: 'v1.35.0+agentiso.9' } }),
    '/api/v1/namespaces': () => ({ json: listOf([{ metadata: { name: 'default' } }, { metadata: { name: 'other' } }], 'NamespaceList') }),
    [TEAMS]: () => ({ json: listOf([team('crew'), team('solo')]) }),
    [EVENTS]: ({ query }) => {
      if (query.get('watch'))
        return {
          lines: [{ type: 'ADDED', object: { ...events[0], metadata: { name: 'c', resourceVersion: '9' }, reason: 'New' } }],
          isOpen: true,
        };
      return { json: listOf(query.get('fieldSelector')?.includes('solo') ? [] : events, 'EventList') };
    },
    '/api/v1/events': () => ({ json: listOf(events, 'EventList') }),
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': ({ body }) => {
      const { resourceAttributes: about } = (JSON.parse(body) as { spec: { resourceAttributes?: { verb: string } } }).spec;
      return { status: 201, json: { status: about?.verb === 'delete' ? { allowed: false, reason: 'you may not' } : { allowed: true } } };
    },
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews': () => ({
      status: 201,
      json: {
        status: {
          resourceRules: [{ verbs: ['get', 'list'], apiGroups: ['agentiso.dev'], resources: ['teams', 'teams/status'] }],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
        },
      },
    }),
    '/apis/authentication.k8s.io/v1/selfsubjectreviews': () => ({
      status: 201,
      json: { kind: 'SelfSubjectReview', status: { userInfo: { username: 'me', groups: ['a', 'b'] } } },
    }),
  });
});
afterAll(() => server.close());

describe('events', () => {
  it.each([
    {
      argv: [],
      want: 'LAST SEEN   TYPE      REASON   OBJECT      MESSAGE\n300d        Normal    Made     Team/crew   made\n30d         Warning   Late     Team/crew   slow\n',
    },
    { argv: ['--types=Warning', '--no-headers'], want: '30d   Warning   Late   Team/crew   slow\n' },
    {
      argv: ['-A', '--types', 'normal'],
      want: 'NAMESPACE   LAST SEEN   TYPE     REASON   OBJECT      MESSAGE\ndefault     300d        Normal   Made     Team/crew   made\n',
    },
    { argv: ['-o', 'name'], want: 'event/a\nevent/b\n' },
  ])('$argv', async ({ argv, want }) => {
    expect(await server.run(['events', ...argv])).toEqual({ code: 0, out: want, err: '' });
  });

  it('asks for those of one object', async () => {
    expect(await server.run(['events', '--for', 'tm/solo'])).toEqual({ code: 0, out: '', err: 'No events found in default namespace.\n' });
    const { query } = server.asked.at(-1) as Asked;
    expect(query.get('fieldSelector')).toBe('involvedObject.kind=Team,involvedObject.name=solo');
  });

  it('goes on with every new one', async () => {
    const enough = new AbortController();
    const onOut = (text: string) => {
      if (text.includes('New')) enough.abort();
    };
    const { code, out } = await server.run(['events', '-w'], { signal: enough.signal, onOut });
    expect([code, out.split('\n').at(-2)]).toEqual([130, '30d         Warning   New      Team/crew   slow']);
  });

  it.each([
    { argv: ['--for', 'crew'], want: '--for must be in resource/name form' },
    { argv: ['--types', 'Bad'], want: 'valid --types are Normal or Warning' },
  ])('$argv is a mistake', async ({ argv, want }) => {
    const { code, err } = await server.run(['events', ...argv]);
    expect([code, err]).toEqual([2, expect.stringContaining(want)]);
  });
});

describe('api-resources', () => {
  it.each([
    {
      argv: ['--api-group', 'agentiso.dev'],
      want: 'NAME    SHORTNAMES   APIVERSION              NAMESPACED   KIND\ncrews                agentiso.dev/v1         true         Crew\ntasks   tk           agentiso.dev/v1alpha1   true         Task\nteams   tm           agentiso.dev/v1alpha1   true         Team\n',
    },
    { argv: ['-o', 'name', '--namespaced=false'], want: 'namespaces\n' },
    {
      argv: ['-o', 'name', '--categories', 'all', '--sort-by', 'kind', '--verbs=list,get'],
      want: 'tasks.agentiso.dev\nteams.agentiso.dev\n',
    },
    { argv: ['-o', 'name', '--verbs=fly'], want: '' },
  ])('$argv', async ({ argv, want }) => {
    expect(await server.run(['api-resources', ...argv])).toEqual({ code: 0, out: want, err: '' });
  });
});

describe('auth', () => {
  it.each([
    { argv: ['can-i', 'get', 'teams'], code: 0, out: 'yes\n', err: '' },
    { argv: ['can-i', 'delete', 'team/crew'], code: 1, out: 'no - you may not\n', err: '' },
    { argv: ['can-i', 'delete', 'teams', '-q'], code: 1, out: '', err: '' },
    { argv: ['can-i', 'get', '/healthz'], code: 0, out: 'yes\n', err: '' },
    {
      argv: ['can-i', 'get', 'temas'],
      code: 0,
      out: 'yes\n',
      err: `Warning: the server doesn't have a resource type "temas"; did you mean teams?\n\n`,
    },
    { argv: ['can-i', 'lst', 'teams'], code: 0, out: 'yes\n', err: `Warning: verb 'lst' is not a known verb; did you mean list?\n` },
    { argv: ['whoami'], code: 0, out: 'ATTRIBUTE   VALUE\nUsername    me\nGroups      [a b]\n', err: '' },
    {
      argv: ['can-i', '--list'],
      code: 0,
      out: 'Resources                   Non-Resource URLs   Resource Names   Verbs\nteams.agentiso.dev          []                  []               [get list]\nteams.agentiso.dev/status   []                  []               [get list]\n                            [/healthz]          []               [get]\n',
      err: '',
    },
  ])('$argv', async ({ argv, ...want }) => {
    expect(await server.run(['auth', ...argv])).toEqual(want);
  });

  it('asks about one name in one namespace', async () => {
    await server.run(['auth', 'can-i', 'update', 'team/crew', '--subresource=status', '-n', 'work']);
    const { body } = server.asked.at(-1) as Asked;
    const about = {
      namespace: 'work',
      verb: 'update',
      group: 'agentiso.dev',
      version: 'v1alpha1',
      resource: 'teams',
      subresource: 'status',
      name: 'crew',
    };
    expect((JSON.parse(body) as { spec: unknown }).spec).toEqual({ resourceAttributes: about });
  });

  it.each([
    { argv: ['can-I'], want: 'did you mean can-i?' },
    { argv: ['can-i', 'get'], want: 'you must specify two arguments' },
  ])('$argv is a mistake', async ({ argv, want }) => {
    const { code, err } = await server.run(['auth', ...argv]);
    expect([code, err]).toEqual([2, expect.stringContaining(want)]);
  });
});

describe('version', () => {
  it('is that of the program and of the server', async () => {
    expect(await server.run(['version'])).toEqual({
      code: 0,
      out: 'Client Version: v1.2.3\nServer Version: v1.35.0+agentiso.9\n',
      err: '',
    });
    expect((await server.run(['version', '--client'])).out).toBe('Client Version: v1.2.3\n');
    const { out } = await server.run(['version', '-o', 'json']);
    expect(JSON.parse(out)).toMatchObject({ clientVersion: { gitVersion: 'v1.2.3' }, serverVersion: { minor: '35' } });
  });

  it('fails without the server only when one was named', async () => {
    expect(await runIn('/nowhere', ['version'])).toEqual({ code: 0, out: 'Client Version: v1.2.3\n', err: '' });
    expect(await runIn(undefined, ['version', '--home', '/nowhere'])).toEqual({
      code: 1,
      out: '',
      err: 'agentiso: no daemon answers at /nowhere (start one with: agentiso serve --home /nowhere)\n',
    });
  });
});

describe('a command without a server', () => {
  it.each([['get', 'teams'], ['describe', 'teams'], ['explain', 'teams'], ['events'], ['api-resources'], ['auth', 'whoami']])(
    '%s says how to start one',
    async (...argv) => {
      const want = { code: 1, out: '', err: 'agentiso: no daemon answers at /nowhere (start one with: agentiso serve --home /nowhere)\n' };
      expect(await runIn('/nowhere', argv)).toEqual(want);
    },
  );
});

describe('config', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-config-'));
  const file = join(folder, 'config');
  const text = `clusters: [{name: c, cluster: {server: "https://c:1"}}]
users: [{name: u, user: {token: secret}}]
contexts:
- {name: two, context: {cluster: c, user: u}}
- {name: one, context: {cluster: c, user: u, namespace: work}}
current-context: two
`;
  const run = (...argv: string[]) => {
    writeFileSync(file, text);
    return runIn(undefined, ['config', ...argv], { environment: { kubeconfig: file } });
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    {
      argv: ['get-contexts'],
      out: 'CURRENT   NAME   CLUSTER   AUTHINFO   NAMESPACE\n          one    c         u          work\n*         two    c         u          \n',
    },
    { argv: ['get-contexts', '-o', 'name'], out: 'one\ntwo\n' },
    { argv: ['get-contexts', 'one', '--no-headers'], out: '      one   c     u     work\n' },
    { argv: ['current-context'], out: 'two\n' },
    { argv: ['get-clusters'], out: 'NAME\nc\n' },
    {
      argv: ['view', '--minify', '--context', 'one'],
      out: `apiVersion: v1
clusters:
- cluster:
    server: https://c:1
  name: c
contexts:
- context:
    cluster: c
    namespace: work
    user: u
  name: one
current-context: one
kind: Config
users:
- name: u
  user:
    token: REDACTED
`,
    },
  ])('$argv', async ({ argv, out }) => {
    expect(await run(...argv)).toEqual({ code: 0, out, err: '' });
  });

  it('switches the context', async () => {
    expect(await run('use-context', 'one')).toEqual({ code: 0, out: 'Switched to context "one".\n', err: '' });
    expect(readFileSync(file, 'utf8')).toContain('current-context: one\n');
  });

  it.each([
    { argv: ['use-context', 'oen'], code: 1, err: 'error: no context exists with the name: "oen"; did you mean one?\n' },
    { argv: ['vieuw'], code: 2, err: expect.stringContaining('did you mean view?') },
    { argv: ['use-context'], code: 2, err: expect.stringContaining("missing required argument 'name'") },
  ])('$argv is told', async ({ argv, code, err }) => {
    expect(await run(...argv)).toEqual({ code, out: '', err });
  });
});

describe('flags before the command', () => {
  it('count as flags of the command', async () => {
    await server.run(['-n', 'other', 'get', 'teams']);
    expect(server.asked.at(-1)?.path).toBe('/apis/agentiso.dev/v1alpha1/namespaces/other/teams');
    await server.run(['--namespace=get', 'get', 'teams']);
    expect(server.asked.at(-1)?.path).toBe('/apis/agentiso.dev/v1alpha1/namespaces/get/teams');
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { code, out, err } = await server.run(['__complete', ...words]);
    expect([code, err]).toEqual([0, '']);
    return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));
  };

  it.each([
    { words: ['des'], want: ['describe'] },
    { words: ['get', 'te'], want: ['teams'] },
    { words: ['get', 'tm', ''], want: ['crew', 'solo'] },
    { words: ['get', 'tm', 'crew', ''], want: ['solo'] },
    { words: ['get', 'team/s'], want: ['team/solo'] },
    { words: ['-n', 'default', 'describe', 'teams', 'c'], want: ['crew'] },
    { words: ['get', 'teams', '-n', 'o'], want: ['other'] },
    { words: ['get', '--namespace=o'], want: ['--namespace=other'] },
    { words: ['get', 'teams', '-o', 'y'], want: ['yaml'] },
    { words: ['get', '-o=js'], want: ['-o=json', '-o=jsonpath=', '-o=jsonpath-as-json=', '-o=jsonpath-file='] },
    { words: ['get', '--watch-'], want: ['--watch-only'] },
    { words: ['completion', ''], want: ['bash', 'zsh', 'fish'] },
    { words: ['config', 'use'], want: ['use-context'] },
    { words: ['explain', 'teams', ''], want: [] },
    { words: ['nonsense', ''], want: [] },
    { words: ['constructor', ''], want: [] },
    { words: ['get', 'nonsense', ''], want: [] },
  ])('$words gives $want', async ({ words, want }) => {
    expect(await complete(...words)).toEqual(want);
  });

  it('offers every command but the hidden one to a beginner', async () => {
    const commands = await complete('');
    expect(commands).toEqual(expect.arrayContaining(['get', 'up', 'serve', 'config']));
    expect(commands).not.toContain('__complete');
  });

  it('knows the types without a server, and is silent about names', async () => {
    expect(await runIn('/nowhere', ['__complete', 'get', 'te'])).toEqual({ code: 0, out: expect.stringContaining('teams'), err: '' });
    expect(await runIn('/nowhere', ['__complete', 'get', 'teams', ''])).toEqual({ code: 0, out: '', err: '' });
  });

  it('suggests the shell that was meant', async () => {
    const { code, err } = await server.run(['completion', 'bsh']);
    expect([code, err]).toEqual([2, expect.stringContaining('did you mean bash?')]);
  });
});
