import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiServer,
  type Asked,
  DISCOVERY,
  listOf,
  notFound,
  startApiServer,
  TASKS,
  TEAMS,
  tableOf,
  team,
} from '../api-server.fixture.ts';

const crew = team('crew', { metadata: { labels: { b: '2', a: '1' }, managedFields: [{ manager: 'x' }] }, spec: { size: 3 } });
const solo = team('solo', { spec: { size: 1 } });

/** Tables to those who ask for them, objects to the others, and two pages of everything. */
function teams({ accept, query }: Asked) {
  if (query.get('watch')) return { lines: watched(accept.includes('as=Table')), isOpen: true };
  const isSecond = query.get('continue') === 'more';
  const objects = [isSecond ? solo : crew];
  const metadata = isSecond ? { resourceVersion: '7' } : { resourceVersion: '7', continue: 'more' };
  return { json: accept.includes('as=Table') ? tableOf(objects, { metadata }) : { ...listOf(objects), metadata } };
}

function watched(isTable: boolean) {
  const late = team('a-team-with-a-long-name', { metadata: { resourceVersion: '9' } });
  const { columnDefinitions: _, ...bare } = tableOf([late]);
  return [
    { type: 'BOOKMARK', object: { kind: 'Team', metadata: { resourceVersion: '8' } } },
    { type: 'ADDED', object: isTable ? tableOf([late]) : late },
    { type: 'DELETED', object: isTable ? bare : late },
  ];
}

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({
    ...DISCOVERY,
    [TEAMS]: teams,
    '/apis/agentiso.dev/v1alpha1/teams': teams,
    [`${TEAMS}/crew`]: ({ accept }) => ({ json: accept.includes('as=Table') ? tableOf([crew]) : crew }),
    [`${TEAMS}/none`]: () => notFound('', 'teams.agentiso.dev "none" not found'),
    [TASKS]: ({ accept }) => ({ json: accept.includes('as=Table') ? tableOf([]) : listOf([], 'TaskList') }),
    [TASKS.replace('tasks', 'agents')]: () => ({ json: tableOf([]) }),
    [TASKS.replace('tasks', 'merges')]: () => ({ json: tableOf([]) }),
    [TASKS.replace('tasks', 'snapshots')]: () => ({ json: tableOf([]) }),
    '/api/v1/namespaces': () => ({ json: listOf([{ metadata: { name: 'default', creationTimestamp: null } }], 'NamespaceList') }),
    '/healthz': () => ({ text: 'ok' }),
  });
});
afterAll(() => server.close());

const get = (...words: string[]) => server.run(['get', ...words]);

describe('get as a table', () => {
  it.each([
    { argv: ['teams'], want: 'NAME   PHASE   AGE\ncrew   Ready   5m\nsolo   Ready   5m\n' },
    { argv: ['tm'], want: 'NAME   PHASE   AGE\ncrew   Ready   5m\nsolo   Ready   5m\n' },
    { argv: ['Team', 'crew'], want: 'NAME   PHASE   AGE\ncrew   Ready   5m\n' },
    { argv: ['team/crew', 'teams.agentiso.dev/crew'], want: 'NAME   PHASE   AGE\ncrew   Ready   5m\ncrew   Ready   5m\n' },
    { argv: ['teams.v1alpha1.agentiso.dev', 'crew', '--no-headers'], want: 'crew   Ready   5m\n' },
    { argv: ['team', 'crew', '-o', 'wide'], want: 'NAME   PHASE   TITLE     AGE\ncrew   Ready   a title   5m\n' },
    { argv: ['team', 'crew', '-owide', '--no-headers=true'], want: 'crew   Ready   a title   5m\n' },
    {
      argv: ['teams', '-A', '--show-labels'],
      want: 'NAMESPACE   NAME   PHASE   AGE   LABELS\ndefault     crew   Ready   5m    a=1,b=2\ndefault     solo   Ready   5m    <none>\n',
    },
    { argv: ['team', 'crew', '-L', 'a,x/none'], want: 'NAME   PHASE   AGE   A     NONE\ncrew   Ready   5m    1     \n' },
    {
      argv: ['all'],
      want: 'NAME                     PHASE   AGE\nteam.agentiso.dev/crew   Ready   5m\nteam.agentiso.dev/solo   Ready   5m\n',
    },
    { argv: ['ns'], want: 'NAME      AGE\ndefault   <unknown>\n' },
    { argv: ['teams', '--sort-by', '.spec.size'], want: 'NAME   PHASE   AGE\nsolo   Ready   5m\ncrew   Ready   5m\n' },
    { argv: ['--raw', '/healthz'], want: 'ok' },
  ])('$argv', async ({ argv, want }) => {
    expect(await get(...argv)).toEqual({ code: 0, out: want, err: '' });
  });

  it('colours what tells how something is, and only on a terminal', async () => {
    const { out } = await server.run(['get', 'team', 'crew'], { environment: { hasColour: true } });
    expect(out).toBe('NAME   PHASE   AGE\ncrew   \u001b[32mReady\u001b[0m   5m\n');
  });

  it('says that there is nothing, on standard error', async () => {
    expect(await get('tasks')).toEqual({ code: 0, out: '', err: 'No resources found in default namespace.\n' });
  });

  it('sends selectors and the size of a page', async () => {
    server.asked.length = 0;
    await get('tasks', '-l', 'a in (b,c)', '--field-selector=status.phase!=Failed', '--chunk-size', '7');
    const { query } = server.asked.at(-1) as Asked;
    expect(Object.fromEntries(query)).toEqual({ labelSelector: 'a in (b,c)', fieldSelector: 'status.phase!=Failed', limit: '7' });
  });
});

describe('get -o', () => {
  it.each([
    { argv: ['teams', '-o', 'name'], want: 'team.agentiso.dev/crew\nteam.agentiso.dev/solo\n' },
    { argv: ['team', 'crew', '-o', 'jsonpath={.metadata.name}={.spec.size}'], want: 'crew=3' },
    { argv: ['teams', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}'], want: 'crew\nsolo\n' },
    {
      argv: ['teams', '-o', 'custom-columns=WHO:.metadata.name,SIZE:.spec.size,X:.spec.x'],
      want: 'WHO    SIZE   X\ncrew   3      <none>\nsolo   1      <none>\n',
    },
    { argv: ['teams', '-o', 'jsonpath={.items[*].metadata.name}', '--sort-by={.spec.size}'], want: 'solo crew' },
    { argv: ['tasks', '-o', 'name'], want: '' },
    {
      argv: ['tasks', '-o', 'json'],
      want: '{\n    "apiVersion": "v1",\n    "items": [],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n',
    },
    {
      argv: ['team', 'crew', '-o', 'yaml'],
      want: 'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata:\n  creationTimestamp: "2024-01-01T00:00:00Z"\n  labels:\n    a: "1"\n    b: "2"\n  name: crew\n  namespace: default\n  resourceVersion: "7"\n  uid: uid-crew\nspec:\n  size: 3\n',
    },
  ])('$argv', async ({ argv, want }) => {
    expect(await get(...argv)).toEqual({ code: 0, out: want, err: '' });
  });

  it('shows managed fields when asked', async () => {
    expect((await get('team', 'crew', '-o', 'yaml', '--show-managed-fields')).out).toContain('managedFields:\n  - manager: x\n');
  });
});

describe('get of what is not there', () => {
  it('shows what there is, says what there is not, and ends with 1', async () => {
    const want = {
      code: 1,
      out: 'NAME   PHASE   AGE\ncrew   Ready   5m\n',
      err: 'Error from server (NotFound): teams.agentiso.dev "none" not found\n',
    };
    expect(await get('team', 'crew', 'none')).toEqual(want);
  });

  it('is no failure with --ignore-not-found', async () => {
    expect(await get('team', 'none', '--ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
    expect(await get('team', 'none', '-o', 'yaml', '--ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
  });

  it.each([
    { argv: ['temas'], code: 1, want: `error: the server doesn't have a resource type "temas"; did you mean teams?\n` },
    { argv: ['teams.agentiso.de'], code: 1, want: `did you mean teams.agentiso.dev?` },
    { argv: ['teams', '--sort-by', '.spec.nothing'], code: 1, want: `error: couldn't find any field with path "{.spec.nothing}"` },
    { argv: [], code: 2, want: 'error: Required resource not specified.' },
    { argv: ['teams', '-o', 'yml'], code: 2, want: 'did you mean yaml?' },
    { argv: ['teams', '-o', 'jsonpath'], code: 2, want: 'jsonpath format specified but no template given' },
    { argv: ['teams', '-o', 'jsonpath={.a'], code: 2, want: 'error: ' },
    { argv: ['teams', '-o', 'custom-columns=NAME'], code: 2, want: 'unexpected custom-columns spec: NAME' },
    { argv: ['teams', '-o', 'custom-columns=NAME:.a['], code: 2, want: 'error: ' },
    { argv: ['teams', '--sort-by', '{.a'], code: 2, want: 'error: ' },
    { argv: ['team', 'crew', '-A'], code: 2, want: 'a resource cannot be retrieved by name across all namespaces' },
    { argv: ['team', 'crew', '-l', 'a=b'], code: 2, want: 'name cannot be provided when a selector is specified' },
    { argv: ['team/crew', 'tasks'], code: 2, want: 'there is no need to specify a resource type as a separate argument' },
    { argv: ['teams,tasks', '-w'], code: 2, want: 'you may only specify a single resource type' },
    { argv: ['teams', '--selectr', 'x'], code: 2, want: `unknown option '--selectr'; did you mean --selector?` },
  ])('$argv says so', async ({ argv, code, want }) => {
    const said = await get(...argv);
    expect([said.code, said.out]).toEqual([code, '']);
    expect(said.err).toContain(want);
  });
});

describe('get -w', () => {
  /** Ends the command as Ctrl-C does, once it has said this. */
  async function until(argv: readonly string[], isEnough: (out: string) => boolean) {
    const interrupted = new AbortController();
    let out = '';
    const onOut = (text: string) => {
      out += text;
      if (isEnough(out)) interrupted.abort();
    };
    return server.run(['get', ...argv], { signal: interrupted.signal, onOut });
  }

  it('shows what there is and then every change, in line as far as it fits', async () => {
    const { code, out } = await until(['teams', '-w'], (text) => text.split('\n').length > 5);
    expect(code).toBe(130);
    expect(out).toBe(
      'NAME   PHASE   AGE\ncrew   Ready   5m\nsolo   Ready   5m\na-team-with-a-long-name   Ready   5m\na-team-with-a-long-name   Ready   5m\n',
    );
  });

  it('shows only changes with --watch-only, and what they were', async () => {
    const { out } = await until(['teams', '--watch-only', '--output-watch-events'], (text) => text.includes('DELETED'));
    expect(out).toBe(
      'EVENT   NAME                      PHASE   AGE\nADDED   a-team-with-a-long-name   Ready   5m\nDELETED   a-team-with-a-long-name   Ready   5m\n',
    );
  });

  it('prints documents in the other formats', async () => {
    const { out } = await until(['team', 'crew', '-w', '-o', 'name'], (text) => text.split('\n').length > 3);
    expect(out).toBe('team.agentiso.dev/crew\nteam.agentiso.dev/a-team-with-a-long-name\nteam.agentiso.dev/a-team-with-a-long-name\n');
    const { query } = server.asked.at(-1) as Asked;
    expect([query.get('fieldSelector'), query.get('resourceVersion')]).toEqual(['metadata.name=crew', '7']);
  });

  it('goes on from the last version when the server ends the stream, and anew when that is too old', async () => {
    const rounds = [
      [{ type: 'MODIFIED', object: team('one', { metadata: { resourceVersion: '20' } }) }],
      [{ type: 'ERROR', object: { kind: 'Status', reason: 'Expired', message: 'too old', code: 410 } }],
      [{ type: 'ADDED', object: team('three', { metadata: { resourceVersion: '30' } }) }],
    ];
    const asked: (string | null)[] = [];
    const ending = await startApiServer({
      ...DISCOVERY,
      [TEAMS]: ({ query }) => {
        if (!query.get('watch')) return { json: listOf([]) };
        asked.push(query.get('resourceVersion'));
        return { lines: rounds[asked.length - 1] ?? [], isOpen: asked.length === rounds.length };
      },
    });
    const enough = new AbortController();
    const onOut = (text: string) => {
      if (text.includes('three')) enough.abort();
    };
    const { code, out, err } = await ending.run(['get', 'teams', '--watch-only', '-o', 'name'], { signal: enough.signal, onOut });
    await ending.close();
    expect([code, out, err]).toEqual([130, 'team.agentiso.dev/one\nteam.agentiso.dev/three\n', '']);
    expect(asked).toEqual(['7', '20', null]);
  });
});
