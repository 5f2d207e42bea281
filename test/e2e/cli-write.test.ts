/** The writing commands of the built program against a real daemon: what they say, how they end, and what is in the files afterwards. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type CliRun, startCli } from '../support/cli.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
const home = join(folder, 'home');
const env = { AGENTISO_HOME: home, KUBE_EDITOR: '', VISUAL: '', EDITOR: '' };
let daemon: CliRun;

async function serve(): Promise<CliRun> {
  const run = startCli(['serve', '--home', home]);
  await run.said('agentiso ready');
  return run;
}

async function stop(run: CliRun): Promise<void> {
  run.child.kill('SIGTERM');
  await run.result;
}

beforeAll(async () => {
  daemon = await serve();
});

afterAll(async () => {
  await stop(daemon);
  rmSync(folder, { recursive: true, force: true });
});

const start = (args: readonly string[], more: NodeJS.ProcessEnv = {}) => startCli(args, { cwd: folder, env: { ...env, ...more } });
const cli = (...args: readonly string[]) => start(args).result;

/** What a command that should work says. */
async function ok(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...args);
  expect([code, stderr], args.join(' ')).toEqual([0, '']);
  return stdout;
}

function file(name: string, text: string): string {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
  return name;
}

const meta = (kind: string, name: string, more = '') =>
  `apiVersion: agentiso.dev/v1alpha1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`;
/** Its agent waits for what there is not, and changes nothing meanwhile. */
const team = (name: string, { spec = '', metadata = '' } = {}) =>
  `${meta('Team', name, metadata)}spec:\n  golden: {from: nobody/none, snapshot: main}\n  roles:\n  - name: worker\n${spec}`;
/** Of a team that there is not: it waits for it and changes nothing meanwhile. */
const task = (name: string, { spec = '', metadata = '' } = {}) =>
  `${meta('Task', name, metadata)}spec:\n  team: nobody\n  command: "true"\n${spec}`;

const stored = (plural: string, name: string, namespace = 'default') => join(home, 'resources', plural, namespace, `${name}.yaml`);
const WAIT = { timeout: 20_000, interval: 20 };
// biome-ignore lint/suspicious/noExplicitAny: any field of any kind is looked at.
type Stored = any;
/** A write is in the journal when the command ends, and a moment later in the file. */
const inFile = (plural: string, name: string, pick: (object: Stored) => unknown, wanted: unknown) =>
  vi.waitFor(() => expect(pick(parse(readFileSync(stored(plural, name), 'utf8')))).toEqual(wanted), WAIT);
const isThere = (path: string, wanted = true) => vi.waitFor(() => expect(existsSync(path)).toBe(wanted), WAIT);
/** It never was there: the server does not know it, and no file tells of it. */
const neverMade = async (type: string, name: string) => {
  expect((await cli('get', type, name)).stderr).toContain('not found');
  expect(existsSync(stored(`${type}s`, name))).toBe(false);
};
const get = async (type: string, name: string): Promise<Stored> =>
  JSON.parse(await ok('get', type, name, '-o', 'json', '--show-managed-fields'));

describe('apply', () => {
  it('creates, says unchanged without a write, configures, and takes away what the file does not say any more', async () => {
    const path = file('apply.yaml', `${team('a1', { spec: '  description: first\n' })}---\n${task('a1-t', { spec: '  priority: 2\n' })}`);
    expect(await ok('apply', '-f', path)).toBe('team.agentiso.dev/a1 created\ntask.agentiso.dev/a1-t created\n');
    await inFile('teams', 'a1', ({ spec }) => [spec.golden.snapshot, spec.description], ['main', 'first']);
    // What the controllers have to say of it, they have said.
    const { status: worker } = await vi.waitFor(async () => {
      const agent = await get('agent', 'a1-worker');
      expect(agent.status?.conditions.map(({ type }: Stored) => type)).toEqual(expect.arrayContaining(['NetworkReady', 'WorkspaceReady']));
      return agent;
    }, WAIT);
    await inFile(
      'teams',
      'a1',
      ({ metadata, status }) => [metadata.finalizers.sort(), status?.conditions?.[0]?.reason, status?.members[0].ip],
      [['agentiso.dev/team', 'agentiso.dev/vault'], 'SnapshotNotFound', worker.ip],
    );
    const before = await get('task', 'a1-t');
    const bytes = readFileSync(stored('teams', 'a1'), 'utf8');
    expect(await ok('apply', '-f', path)).toBe('team.agentiso.dev/a1 unchanged\ntask.agentiso.dev/a1-t unchanged\n');
    expect((await get('task', 'a1-t')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(readFileSync(stored('teams', 'a1'), 'utf8')).toBe(bytes);
    await ok('patch', 'team', 'a1', '-p', 'spec: {terminationGracePeriodSeconds: 7}');
    file('apply.yaml', `${team('a1')}---\n${task('a1-t', { spec: '  priority: 2\n' })}`);
    expect(await ok('apply', '-f', path)).toBe('team.agentiso.dev/a1 configured\ntask.agentiso.dev/a1-t unchanged\n');
    await inFile('teams', 'a1', ({ spec }) => [spec.golden.snapshot, spec.terminationGracePeriodSeconds, spec.description], [
      'main',
      7,
      undefined,
    ]);
  });

  it('writes nothing of a set with a mistake in it, and names file, line and column of each', async () => {
    const path = file('mistake.yaml', `${team('a2')}---\n${team('a2-b').replace('roles', 'rolls')}---\nkind: Team\n`);
    expect(await cli('apply', '-f', path)).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'mistake.yaml:19:1: apiVersion: Required value; every document needs apiVersion, kind and metadata',
        'mistake.yaml:19:1: metadata.name: Required value; name the resource',
        'mistake.yaml:14:1: spec.roles: Required value',
        'mistake.yaml:16:3: unknown field "spec.rolls"; did you mean "roles"?',
        '',
      ].join('\n'),
    });
    await neverMade('team', 'a2');
  });

  it.each([
    {
      name: 'kind',
      text: team('t1').replace('kind: Team', 'kind: Tema'),
      want: [':2:1: kind: ', 'unknown kind "Tema"; did you mean Team?'],
    },
    { name: 'version', text: team('t1').replace('v1alpha1', 'v1'), want: [':1:1: ', 'agentiso.dev/v1alpha1'] },
    { name: 'group', text: team('t1').replace('agentiso.dev', 'agentiso.de'), want: [':1:1: ', 'agentiso.dev/v1alpha1'] },
    {
      name: 'name',
      text: team('t1').replace('  name: t1', '  nmae: t1'),
      want: ['metadata.name: Required value', '"metadata.nmae"; did you mean "name"?'],
    },
  ])('explains a mistake in the $name as validate does', async ({ text, want }) => {
    const { code, stdout, stderr } = await cli('apply', '-f', file('typo.yaml', text));
    expect([code, stdout]).toEqual([1, '']);
    for (const part of want) expect(stderr).toContain(part);
  });

  it('takes merge keys, and refuses what is not UTF-8', async () => {
    const merged = team('m1').replace('  - name: worker\n', '  - &base {name: worker, count: 2}\n  - {<<: *base, name: other}\n');
    expect(await ok('apply', '-f', file('merged.yaml', merged))).toBe('team.agentiso.dev/m1 created\n');
    expect((await get('team', 'm1')).spec.roles.map(({ count }: Stored) => count)).toEqual([2, 2]);
    writeFileSync(join(folder, 'latin.yaml'), Buffer.from(team('m2', { spec: '  description: b\xe4r\n' }), 'latin1'));
    expect(await cli('apply', '-f', 'latin.yaml')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'latin.yaml:9:17: not UTF-8 text (byte 0xe4); save the file as UTF-8\n',
    });
  });

  it('can be interrupted while it waits for a pipe', async () => {
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    const run = start(['apply', '-f', 'pipe']);
    // It has the pipe open to read as soon as it can be opened to write.
    await vi.waitFor(() => closeSync(openSync(join(folder, 'pipe'), constants.O_WRONLY | constants.O_NONBLOCK)), WAIT);
    run.child.kill('SIGINT');
    expect(await run.result).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  it.each([
    { argv: ['apply', '-f', 'hung.yaml'] },
    { argv: ['create', '-f', 'hung.yaml'] },
    { argv: ['delete', 'team', 'hung'] },
    { argv: ['label', 'team', 'hung', 'a=b'] },
  ])('ends at the first Ctrl-C also when the daemon hangs: $argv', async ({ argv }) => {
    file('hung.yaml', team('hung'));
    const hung = mkdtempSync(join(folder, 'hung-'));
    const server = createServer().listen(join(hung, 'agentiso.sock'));
    try {
      const run = start([...argv, '--home', hung]);
      const [socket] = (await once(server, 'connection')) as [Socket];
      await once(socket, 'data');
      run.child.kill('SIGINT');
      expect((await run.result).code).toBe(130);
    } finally {
      server.close();
    }
  });

  it('writes nothing either when only the server can know of the mistake', async () => {
    await ok('apply', '-f', file('child.yaml', `${team('a3')}---\n${team('a3-c', { spec: '  parent: a3\n  budget: {maxAgents: 1}\n' })}`));
    const path = file('moved.yaml', `${team('a3-new')}---\n${team('a3-c', { spec: '  parent: a3-new\n  budget: {maxAgents: 1}\n' })}`);
    const { code, stdout, stderr } = await cli('apply', '-f', path);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^moved\.yaml:\d+:\d+: spec.*parent/)]);
    await neverMade('team', 'a3-new');
  });

  it('does not know kinds that the server does not know', async () => {
    const path = file('kinds.yaml', `${team('a4')}---\napiVersion: v2\nkind: Pod\nmetadata: {name: p}\n`);
    const { code, stderr } = await cli('apply', '-f', path);
    expect([code, stderr]).toEqual([1, 'kinds.yaml:11:1: kind: unknown kind "Pod"; expected one of Team, Agent, Task, Merge, Snapshot\n']);
    await neverMade('team', 'a4');
  });

  it.each([
    { flag: '--dry-run=client', says: ' (dry run)' },
    { flag: '--dry-run', says: ' (dry run)' },
    { flag: '--dry-run=server', says: ' (server dry run)' },
  ])('stores nothing with $flag', async ({ flag, says }) => {
    const path = file('dry.yaml', `${team('a5')}---\n${task('a5-t')}`);
    expect(await ok('apply', flag, '-f', path)).toBe(`team.agentiso.dev/a5 created${says}\ntask.agentiso.dev/a5-t created${says}\n`);
    await neverMade('team', 'a5');
  });

  it('reads standard input, folders, and with -R the folders in them', async () => {
    file('tree/a.yaml', task('a6-a'));
    file('tree/deep/b.json', JSON.stringify(parse(task('a6-b'))));
    expect(await ok('apply', '-f', 'tree')).toBe('task.agentiso.dev/a6-a created\n');
    expect(await ok('apply', '-R', '-f', 'tree')).toBe('task.agentiso.dev/a6-a unchanged\ntask.agentiso.dev/a6-b created\n');
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'dist', 'agentiso.js'), 'apply', '-f', '-', '-o', 'name'], {
      cwd: folder,
      env: { ...process.env, ...env },
      input: task('a6-c'),
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, 'task.agentiso.dev/a6-c\n']);
  });

  it('makes a namespace and what is in it from one file, and refuses another one than -n names', async () => {
    const path = file(
      'ns.yaml',
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: a7}\n---\n${task('a7-t', { metadata: '  namespace: a7\n' })}`,
    );
    expect(await ok('apply', '-f', path)).toBe('namespace/a7 created\ntask.agentiso.dev/a7-t created\n');
    await isThere(stored('tasks', 'a7-t', 'a7'));
    expect((await cli('apply', '-f', path, '-n', 'default')).stderr).toBe(
      'ns.yaml:9:3: the namespace from the provided object "a7" does not match the namespace "default". You must pass \'--namespace=a7\' to perform this operation.\n',
    );
    expect(await ok('delete', 'namespace', 'a7')).toBe('namespace "a7" deleted\n');
    await isThere(stored('tasks', 'a7-t', 'a7'), false);
  });

  it('warns of an object that was not applied before, as kubectl does', async () => {
    await ok('create', '-f', file('made.yaml', task('a8')));
    const { code, stdout, stderr } = await cli('apply', '-f', file('made.yaml', task('a8', { spec: '  priority: 1\n' })));
    expect([code, stdout]).toEqual([0, 'task.agentiso.dev/a8 configured\n']);
    expect(stderr).toMatch(/^Warning: resource tasks\/a8 is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/);
  });

  it('applies on the server’s side, explains a conflict, and forces when told to', async () => {
    const path = file('ssa.yaml', task('a9', { spec: '  priority: 1\n' }));
    expect(await ok('apply', '--server-side', '-f', path)).toBe('task.agentiso.dev/a9 serverside-applied\n');
    await ok('patch', 'task', 'a9', '-p', '{"spec":{"priority":4}}', '--field-manager', 'somebody');
    const refused = await cli('apply', '--server-side', '-f', path);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('error: Apply failed with 1 conflict: conflict with "somebody"');
    expect(refused.stderr).toContain('.spec.priority\nPlease review the fields above');
    await inFile('tasks', 'a9', ({ spec }) => spec.priority, 4);
    expect(await ok('apply', '--server-side', '--force-conflicts', '-f', path)).toBe('task.agentiso.dev/a9 serverside-applied\n');
    await inFile('tasks', 'a9', ({ spec }) => spec.priority, 1);
  });

  it('owns on the server’s side what it had applied from here before, so that it can take it away', async () => {
    await ok('apply', '-f', file('owned.yaml', task('a10', { spec: '  priority: 1\n  title: old\n' })));
    expect(await ok('apply', '--server-side', '-f', file('owned.yaml', task('a10', { spec: '  priority: 2\n' })))).toBe(
      'task.agentiso.dev/a10 serverside-applied\n',
    );
    const { spec, metadata } = await get('task', 'a10');
    expect([spec.priority, spec.title]).toEqual([2, undefined]);
    const managers = metadata.managedFields.map(({ manager, operation }: Stored) => `${manager} ${operation}`);
    expect(managers).toEqual(expect.arrayContaining(['kubectl Apply', 'kubectl-last-applied Apply']));
    expect(managers).not.toContain('kubectl-client-side-apply Update');
  });

  it('says at Ctrl-C how many were applied, and those are', async () => {
    const names = Array.from({ length: 400 }, (_, index) => `a11-${index}`);
    const run = start(['apply', '-f', file('many.yaml', names.map((name) => task(name)).join('---\n'))]);
    await run.said('created');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.result;
    const done = stdout.trim().split('\n').length;
    expect([code, stderr]).toEqual([130, `interrupted: ${done} of 400 applied, ${400 - done} left as they were\n`]);
    const there = (await ok('get', 'task', '-o', 'name')).split('\n').filter((line) => line.includes('/a11-'));
    expect(there).toHaveLength(done);
  });

  it('prunes what was applied, is selected and is not there any more, and nothing else', async () => {
    const labels = '  labels: {app: prune}\n';
    const one = task('b1-one', { metadata: labels });
    await ok('apply', '-f', file('prune.yaml', [one, task('b1-two', { metadata: labels }), task('b1-other')].join('---\n')));
    await ok('create', '-f', file('by-hand.yaml', task('b1-hand', { metadata: labels })));
    const bare = await cli('apply', '--prune', '-f', 'prune.yaml');
    expect([bare.code, bare.stderr]).toEqual([
      2,
      expect.stringContaining('all resources selected for prune without explicitly passing --all'),
    ]);
    file('prune.yaml', one);
    expect(await ok('apply', '--prune', '-l', 'app=prune', '-f', 'prune.yaml', '--dry-run=server')).toBe(
      'task.agentiso.dev/b1-one unchanged (server dry run)\ntask.agentiso.dev/b1-two pruned (server dry run)\n',
    );
    expect(await ok('apply', '--prune', '-l', 'app=prune', '-f', 'prune.yaml')).toBe(
      'task.agentiso.dev/b1-one unchanged\ntask.agentiso.dev/b1-two pruned\n',
    );
    for (const name of ['b1-one', 'b1-two', 'b1-other', 'b1-hand']) await isThere(stored('tasks', name), name !== 'b1-two');
  });
});

describe('diff', () => {
  it('is silent and 0 for what would change nothing, and shows and says 1 for what would, without doing it', async () => {
    const path = file('diff.yaml', team('d1'));
    await ok('apply', '-f', path);
    expect(await cli('diff', '-f', path)).toEqual({ code: 0, stdout: '', stderr: '' });
    file('diff.yaml', `${team('d1').replace('snapshot: main', 'snapshot: other')}---\n${task('d1-new')}`);
    const { code, stdout, stderr } = await cli('diff', '-f', path);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^--- LIVE\/agentiso\.dev\.v1alpha1\.Team\.default\.d1\n\+\+\+ MERGED\//);
    expect(stdout).toContain('\n-    snapshot: main\n+    snapshot: other\n');
    expect(stdout).toContain('+++ MERGED/agentiso.dev.v1alpha1.Task.default.d1-new\n@@ -0,0 +1,');
    expect(stdout).not.toContain('managedFields');
    await inFile('teams', 'd1', ({ spec }) => spec.golden.snapshot, 'main');
    await neverMade('task', 'd1-new');
  });

  it('is above 1 when it cannot be found out', async () => {
    expect(await cli('diff', '-f', file('diff-bad.yaml', 'kind: ['))).toMatchObject({ code: 2, stdout: '' });
    expect(await cli('diff', '-f', 'nowhere.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the path "nowhere.yaml" does not exist'),
    });
  });
});

describe('create and replace', () => {
  it('creates from a file once, and a namespace by its name', async () => {
    const path = file('create.yaml', task('c1'));
    expect(await ok('create', '-f', path)).toBe('task.agentiso.dev/c1 created\n');
    const again = await cli('create', '-f', path);
    expect([again.code, again.stderr]).toEqual([
      1,
      'Error from server (AlreadyExists): error when creating "create.yaml": tasks.agentiso.dev "c1" already exists\n',
    ]);
    expect(await ok('create', 'namespace', 'c2', '--dry-run=client')).toBe('namespace/c2 created (dry run)\n');
    expect(await ok('create', 'ns', 'c2')).toBe('namespace/c2 created\n');
    expect((await cli('create', 'ns', 'c2')).code).toBe(1);
  });

  it('lets the server choose a name', async () => {
    const text = task('x').replace('name: x', 'generateName: c3-');
    expect(await ok('create', '-f', file('generated.yaml', text))).toMatch(/^task\.agentiso\.dev\/c3-[a-z0-9]{5} created\n$/);
  });

  it('replaces by force what was read from the server, and does not lose it', async () => {
    await ok('create', '-f', file('forced.yaml', task('r9')));
    const before = await ok('get', 'task', 'r9', '-o', 'yaml');
    expect(before).toContain('resourceVersion');
    expect(await ok('replace', '--force', '-f', file('forced.yaml', before.replace('maxAttempts: 3', 'maxAttempts: 4')))).toContain(
      'replaced',
    );
    expect(await ok('get', 'task', 'r9', '-o', 'jsonpath={.spec.maxAttempts}')).toBe('4');
  });

  it('replaces the whole spec', async () => {
    await ok('create', '-f', file('whole.yaml', task('c4', { spec: '  priority: 1\n  title: old\n' })));
    expect(await ok('replace', '-f', file('whole.yaml', task('c4', { spec: '  priority: 2\n' })))).toBe('task.agentiso.dev/c4 replaced\n');
    await inFile('tasks', 'c4', ({ spec }) => [spec.priority, spec.title], [2, undefined]);
    const { uid } = (await get('task', 'c4')).metadata;
    await ok('replace', '--force', '-f', 'whole.yaml');
    expect((await get('task', 'c4')).metadata.uid).not.toBe(uid);
  });
});

describe('patch', () => {
  it('takes merge patches in JSON and YAML, lists of operations, and files', async () => {
    await ok('create', '-f', file('patch.yaml', task('p1')));
    expect(await ok('patch', 'task', 'p1', '-p', '{"spec":{"priority":1}}')).toBe('task.agentiso.dev/p1 patched\n');
    expect(await ok('patch', 'task', 'p1', '-p', 'spec: {priority: 1}')).toBe('task.agentiso.dev/p1 patched (no change)\n');
    const operations = '[{"op":"replace","path":"/spec/priority","value":4}]';
    expect(await ok('patch', 'task', 'p1', '--type=json', '-p', operations)).toBe('task.agentiso.dev/p1 patched\n');
    expect(await ok('patch', 'task', 'p1', '--patch-file', file('p.yaml', 'spec:\n  title: by file\n'))).toBe(
      'task.agentiso.dev/p1 patched\n',
    );
    await inFile('tasks', 'p1', ({ spec }) => [spec.priority, spec.title], [4, 'by file']);
  });

  it('says what the server refuses in the words of kubectl', async () => {
    await ok('create', '-f', file('patch.yaml', task('p2')));
    const { code, stderr } = await cli('patch', 'task', 'p2', '-p', '{"spec":{"priority":"high"}}');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^The Task "p2" is invalid: [\s\S]*spec\.priority: Invalid value: "string"/)]);
    expect((await cli('patch', 'task', 'p2')).code).toBe(2);
    expect((await cli('patch', 'task', 'none', '-p', '{}')).stderr).toBe(
      'Error from server (NotFound): tasks.agentiso.dev "none" not found\n',
    );
  });
});

describe('label and annotate', () => {
  it('set, refuse, overwrite and remove, in kubectl’s words', async () => {
    await ok('create', '-f', file('label.yaml', task('l1')));
    const said = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await cli(...args);
      return [code, stdout + stderr];
    };
    expect(await said('label', 'task', 'l1', 'stage=one')).toEqual([0, 'task.agentiso.dev/l1 labeled\n']);
    await inFile('tasks', 'l1', ({ metadata }) => metadata.labels, { stage: 'one' });
    expect(await said('label', 'task/l1', 'stage=one')).toEqual([0, 'task.agentiso.dev/l1 not labeled\n']);
    expect(await said('label', 'task', 'l1', 'stage=two')).toEqual([
      1,
      "error: 'stage' already has a value (one), and --overwrite is false\n",
    ]);
    expect(await said('label', 'task', 'l1', 'stage=two', '--overwrite')).toEqual([0, 'task.agentiso.dev/l1 labeled\n']);
    expect(await said('label', 'task', 'l1', 'stage-', 'more=1')).toEqual([0, 'task.agentiso.dev/l1 modified\n']);
    expect(await said('label', 'task', '-l', 'more=1', 'more-')).toEqual([0, 'task.agentiso.dev/l1 unlabeled\n']);
    expect(await said('label', 'task', 'l1', 'more-')).toEqual([0, 'label "more" not found.\ntask.agentiso.dev/l1 not labeled\n']);
    await inFile('tasks', 'l1', ({ metadata }) => metadata.labels ?? {}, {});
    expect(await said('annotate', 'task', 'l1', 'note=any text, really')).toEqual([0, 'task.agentiso.dev/l1 annotated\n']);
    expect(await said('annotate', 'task', 'l1', 'note=other')).toEqual([
      1,
      "error: --overwrite is false but found the following declared annotation(s): 'note' already has a value (any text, really)\n",
    ]);
    await inFile('tasks', 'l1', ({ metadata }) => metadata.annotations, { note: 'any text, really' });
    expect((await said('label', 'task', 'l1'))[0]).toBe(2);
  });
});

describe('edit', () => {
  it('sends what was changed, and nothing when nothing was', async () => {
    await ok('create', '-f', file('edit.yaml', task('e1', { spec: '  title: before\n' })));
    const edit = (editor: string) => start(['edit', 'task', 'e1'], { KUBE_EDITOR: editor }).result;
    expect(await edit('sed -i s/before/after/')).toEqual({ code: 0, stdout: 'task.agentiso.dev/e1 edited\n', stderr: '' });
    await inFile('tasks', 'e1', ({ spec }) => spec.title, 'after');
    expect(await edit('true')).toEqual({ code: 0, stdout: '', stderr: 'Edit cancelled, no changes made.\n' });
    expect(await edit('truncate -s 0')).toEqual({ code: 0, stdout: '', stderr: 'Edit cancelled, saved file was empty.\n' });
    expect(await edit('false')).toMatchObject({ code: 1, stderr: expect.stringContaining('there was a problem with the editor "false"') });
  });

  it('opens what was refused again with the reason above it, and keeps the text', async () => {
    await ok('create', '-f', file('edit.yaml', task('e2')));
    // The first time it breaks the priority; the second time it finds the reason in the file and leaves it as it is.
    const script = file('break.sh', 'cp "$1" "$0.$(ls | grep -c break.sh.)"\nsed -i "s/priority: .*/priority: much/" "$1"\n');
    const { code, stdout, stderr } = await start(['edit', 'task', 'e2'], { KUBE_EDITOR: `sh ${join(folder, script)}` }).result;
    expect([code, stdout]).toEqual([1, '']);
    const [, kept = ''] =
      /A copy of your changes has been stored to "(.*)"\nerror: Edit cancelled, no valid changes were saved\.\n$/.exec(stderr) ?? [];
    expect(readFileSync(kept, 'utf8')).toContain('priority: much');
    rmSync(dirname(kept), { recursive: true });
    expect(readFileSync(join(folder, 'break.sh.1'), 'utf8')).toMatch(
      /^# Please edit the object below[\s\S]*#\n# line \d+, column 3: spec\.priority: Invalid value[^\n]*\n#\n/,
    );
    expect((await get('task', 'e2')).spec.priority).toBe(3);
  });

  it('says of an unknown field only its line in the edited text and what was probably meant', async () => {
    await ok('create', '-f', file('edit.yaml', task('e3')));
    const editor = 'sed -i "s/^  priority:/  priorty:/"';
    const { code, stderr } = await start(['edit', 'task', 'e3'], { KUBE_EDITOR: editor }).result;
    const [, line, kept = ''] =
      /^error: line (\d+), column 3: unknown field "spec\.priorty"; did you mean "priority"\?\nA copy of .* "(.*)"\nerror: .*\n$/.exec(
        stderr,
      ) ?? [];
    expect([code, stderr]).toEqual([1, expect.stringContaining('A copy of your changes')]);
    expect(readFileSync(kept, 'utf8').split('\n')[Number(line) - 1]).toBe('  priorty: 3');
    rmSync(dirname(kept), { recursive: true });
  });

  it('needs a terminal or an editor that needs none', async () => {
    const { code, stderr } = await cli('edit', 'task', 'e2');
    expect([code, stderr]).toEqual([1, 'error: edit needs a terminal\n  or name an editor that needs none in $KUBE_EDITOR\n']);
  });
});

describe('delete', () => {
  it('is back when the objects and their files are gone', async () => {
    await ok('apply', '-f', file('delete.yaml', `${team('x1')}---\n${task('x1-t')}`));
    expect(await ok('delete', '-f', 'delete.yaml')).toBe(
      'team.agentiso.dev "x1" deleted from default namespace\ntask.agentiso.dev "x1-t" deleted from default namespace\n',
    );
    await isThere(stored('teams', 'x1'), false);
    await isThere(stored('tasks', 'x1-t'), false);
    expect((await cli('delete', 'team', 'x1')).stderr).toBe('Error from server (NotFound): teams.agentiso.dev "x1" not found\n');
    expect(await ok('delete', 'team', 'x1', '--ignore-not-found')).toBe('');
    expect(await ok('delete', 'team', '-l', 'no=such')).toBe('No resources found\n');
    expect(await cli('delete', 'team')).toMatchObject({ code: 2, stderr: expect.stringContaining('no name was specified') });
  });

  it('waits for finalizers, leaves at Ctrl-C while the deletion goes on, and says when the time is over', async () => {
    await ok('create', '-f', file('held.yaml', task('x2', { metadata: '  finalizers: [example.com/hold]\n' })));
    const run = start(['delete', 'task', 'x2']);
    await run.said('deleted from default namespace');
    run.child.kill('SIGINT');
    expect(await run.result).toMatchObject({ code: 130, stderr: 'interrupted: deletion goes on; nobody waits for it any more\n' });
    expect((await get('task', 'x2')).metadata.deletionTimestamp).toBeDefined();
    const late = await cli('delete', 'task', 'x2', '--timeout=200ms');
    expect([late.code, late.stderr]).toEqual([1, 'error: timed out waiting for the condition on tasks/x2\n']);
    expect((await cli('delete', 'task', 'x2', '--wait=false')).code).toBe(0);
    const waiting = start(['delete', 'task', 'x2']);
    await waiting.said('deleted from default namespace');
    await ok('patch', 'task', 'x2', '-p', '{"metadata":{"finalizers":null}}');
    expect((await waiting.result).code).toBe(0);
    await isThere(stored('tasks', 'x2'), false);
  });

  it('changes nothing when it is only tried', async () => {
    await ok('create', '-f', file('tried.yaml', task('x3')));
    expect(await ok('delete', 'task', 'x3', '--dry-run=client')).toBe('task.agentiso.dev "x3" deleted from default namespace (dry run)\n');
    expect(await ok('delete', 'task', 'x3', '--dry-run=server')).toBe(
      'task.agentiso.dev "x3" deleted from default namespace (server dry run)\n',
    );
    await isThere(stored('tasks', 'x3'));
  });
});

describe('wait', () => {
  it('is back when it is true, by condition, phase, path, creation and deletion', async () => {
    const created = start(['wait', '--for=create', 'task/w1', '--timeout=60s']);
    const deleted = async () => {
      const run = start(['wait', '--for=delete', 'task/w1', '--timeout=60s']);
      await ok('delete', 'task', 'w1');
      return run.result;
    };
    await ok('create', '-f', file('wait.yaml', task('w1')));
    expect(await created.result).toMatchObject({ code: 0, stdout: 'task.agentiso.dev/w1 condition met\n' });
    expect(await ok('wait', '--for=condition=Ready=False', 'task/w1', '--timeout=60s')).toBe('task.agentiso.dev/w1 condition met\n');
    expect(await ok('wait', '--for=phase=Pending', 'task', 'w1', '--timeout=60s')).toBe('task.agentiso.dev/w1 condition met\n');
    expect(await ok('wait', '--for=jsonpath={.spec.team}=nobody', 'task/w1')).toBe('task.agentiso.dev/w1 condition met\n');
    expect((await deleted()).code).toBe(0);
  });

  it('ends with 1 when the time is over or there is nothing to wait for', async () => {
    await ok('create', '-f', file('wait.yaml', task('w2')));
    const said = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await cli('wait', ...args);
      return [code, stdout + stderr];
    };
    expect(await said('--for=condition=Never', 'task/w2', '--timeout=100ms')).toEqual([
      1,
      'error: timed out waiting for the condition on tasks/w2\n',
    ]);
    expect(await said('--for=condition=Never', 'task/w2', '--timeout=0')).toEqual([1, 'error: condition not met for tasks/w2\n']);
    expect(await said('--for=condition=Ready', 'task/none')).toEqual([
      1,
      'Error from server (NotFound): tasks.agentiso.dev "none" not found\n',
    ]);
    expect(await said('--for=delete', 'task/none')).toEqual([0, '']);
    expect(await said('--for=condition=Ready', 'task', '-l', 'no=such')).toEqual([1, 'error: no matching resources found\n']);
    expect((await said('--for=whatever', 'task/w2'))[0]).toBe(2);
  });

  it('goes on over a restart of the daemon', async () => {
    await ok('create', '-f', file('wait.yaml', task('w3')));
    const run = start(['wait', '--for=jsonpath={.spec.title}=changed', 'task/w3', '--timeout=60s']);
    await vi.waitFor(async () => expect(await ok('get', '--raw', '/metrics')).toMatch(/^agentiso_api_watches 1$/m), 30_000);
    await stop(daemon);
    daemon = await serve();
    await ok('patch', 'task', 'w3', '-p', '{"spec":{"title":"changed"}}');
    expect(await run.result).toMatchObject({ code: 0, stdout: 'task.agentiso.dev/w3 condition met\n' });
  });
});

it('says how to start a daemon when there is none', async () => {
  const { code, stdout, stderr } = await cli('apply', '-f', file('none.yaml', task('none')), '--home', 'elsewhere');
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('agentiso serve --home elsewhere')]);
});
