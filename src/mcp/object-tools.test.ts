import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import { STOP_REQUEST_ANNOTATION } from '#client/stop-request.ts';
import { toListed } from '#protocol/tool-surface.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { objectTools } from './object-tools.ts';
import { type ObjectBench, openObjectBench } from './objects/object-bench.fixture.ts';

/** The machine may be busy. */
const SOON = { timeout: 15_000 };

let bench: ObjectBench;
beforeEach(async () => {
  bench = await openObjectBench();
});
afterEach(() => bench.end());

const SPRINT = `
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: {name: sprint}
spec:
  roles: [{name: coder, count: 2}]
---
apiVersion: agentiso.dev/v1alpha1
kind: Task
metadata: {name: sprint-build}
spec: {team: sprint, command: make}
`;

const team = (name = 'sprint') => bench.client.get<Team>({ kind: 'Team', namespace: 'default', name });
const names = async (kind: string) => (await bench.client.list(kind)).items.map(({ metadata }) => metadata.name);

it('tells a model of every tool and field', () => {
  for (const tool of objectTools) {
    const { name, description, inputSchema } = toListed(tool);
    expect(description.length, name).toBeGreaterThan(60);
    for (const [field, schema] of Object.entries(inputSchema['properties'] as Record<string, { description?: string }>)) {
      expect(schema.description, `${name}.${field}`).toBeTruthy();
    }
  }
  expect(new Set(objectTools.map(({ name }) => name)).size).toBe(16);
});

describe('apply', () => {
  it('creates, leaves and changes, as server-side apply of the manager mcp', async () => {
    const first = await bench.call('apply', { manifest: SPRINT });
    expect(first.answer).toEqual({
      objects: [
        { kind: 'Team', name: 'sprint', namespace: 'default', action: 'created' },
        { kind: 'Task', name: 'sprint-build', namespace: 'default', action: 'created' },
      ],
      warnings: [],
      dry_run: false,
    });
    expect((await team()).metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual(['mcp Apply']);
    const again = await bench.call('apply', { manifest: SPRINT.replace('command: make', 'command: make all') });
    expect(again.answer.objects.map(({ action }: { action: string }) => action)).toEqual(['unchanged', 'configured']);
    expect((await bench.client.get<Task>({ kind: 'Task', namespace: 'default', name: 'sprint-build' })).spec.command).toBe('make all');
  });

  it('stores nothing of a set with a mistake in it, and says where it is and what was meant', async () => {
    const { error } = await bench.call('apply', { manifest: SPRINT.replace('command: make', 'comand: make') });
    expect(error).toMatchObject({ code: 'Invalid', hint: expect.stringContaining('explain') });
    expect(error?.message).toMatch(/^manifest:11:22: unknown field "spec.comand"; did you mean "command"\?/);
    expect(error?.field).toBe('spec.comand');
    expect(await names('Team')).toEqual([]);
  });

  it.each([
    { name: 'no YAML', manifest: 'a: [', message: /^manifest:1:/ },
    { name: 'nothing', manifest: '# only a comment', message: /there is no document/ },
    {
      name: 'an unknown kind',
      manifest: SPRINT.replace('kind: Task', 'kind: Tasl'),
      message: /^manifest:9:1: kind: unknown kind "Tasl"; did you mean Task\?/,
    },
    {
      name: 'a task that waits for nobody',
      manifest: SPRINT.replace('make}', 'make, dependsOn: [desing]}'),
      message: /^manifest:11:\d+: spec.dependsOn/,
    },
    { name: 'the same twice', manifest: `${SPRINT}---${SPRINT}`, message: /already defined/ },
    { name: 'control characters', manifest: 'kind: \u0007Team', message: /control characters/ },
  ])('refuses $name', async ({ manifest, message }) => {
    const { error } = await bench.call('apply', { manifest });
    expect(error?.message).toMatch(message);
    expect(await names('Team')).toEqual([]);
    expect(await names('Task')).toEqual([]);
  });

  it('only looks with dry_run', async () => {
    const { answer } = await bench.call('apply', { manifest: SPRINT, dry_run: true });
    expect(answer.objects.map(({ action }: { action: string }) => action)).toEqual(['created', 'created']);
    expect(await names('Team')).toEqual([]);
  });

  it('is refused where others have set the field, and takes it over when forced', async () => {
    await bench.client.apply(newTeam('sprint', { description: 'theirs' }) as never, { fieldManager: 'somebody' });
    const manifest = 'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: sprint}\nspec: {description: ours}\n';
    const { error } = await bench.call('apply', { manifest });
    expect(error).toMatchObject({ code: 'Conflict', hint: expect.stringContaining('force') });
    expect((await team()).spec.description).toBe('theirs');
    expect((await bench.call('apply', { manifest, force: true })).answer.objects[0].action).toBe('configured');
    expect((await team()).spec.description).toBe('ours');
  });

  it('says that there is no room, with the numbers', async () => {
    const { error } = await bench.call('apply', { manifest: SPRINT.replace('count: 2', 'count: 21') });
    expect(error?.message).toContain('maxAgents');
    expect(await names('Team')).toEqual([]);
    const many = SPRINT.replace('count: 2}]', 'count: 21}]\n  budget: {maxAgents: 30}').split('---')[0];
    expect((await bench.call('apply', { manifest: many })).error).toMatchObject({ code: 'QuotaExceeded', field: 'spec.roles' });
  });

  it('is not for viewers, nor is diff', async () => {
    for (const tool of ['apply', 'diff']) {
      expect((await bench.call(tool, { manifest: SPRINT }, { role: 'viewer' })).error?.code).toBe('Forbidden');
    }
  });
});

it('charges apply for the workspaces that it makes, and only for those', async () => {
  await bench.end();
  bench = await openObjectBench({ createBurst: 1 });
  expect((await bench.call('apply', { manifest: SPRINT })).error).toBeUndefined();
  expect((await bench.call('apply', { manifest: SPRINT })).error, 'nothing new').toBeUndefined();
  const { error } = await bench.call('apply', { manifest: SPRINT.replace('count: 2', 'count: 3') });
  expect(error).toMatchObject({ code: 'RateLimited', retry_after_ms: expect.any(Number) });
  expect((await team()).spec.roles[0]?.count).toBe(2);
});

describe('diff', () => {
  it('tells fields and text, and stores nothing', async () => {
    await bench.call('apply', { manifest: SPRINT });
    const { resourceVersion } = (await team()).metadata;
    const { answer } = await bench.call('diff', { manifest: SPRINT.replace('count: 2', 'count: 3') });
    expect(answer.is_different).toBe(true);
    expect(answer.objects[0]).toMatchObject({ change: 'change', fields: [{ path: 'spec.roles[0].count', from: '2', to: '3' }] });
    expect(answer.objects[0].text).toContain('\n-    count: 2\n+    count: 3\n');
    expect(answer.objects[0].text).not.toContain('generation');
    expect(answer.objects[1]).toMatchObject({ change: 'none', fields: [], text: '' });
    expect((await team()).metadata.resourceVersion).toBe(resourceVersion);
    expect((await bench.call('diff', { manifest: SPRINT })).answer.is_different).toBe(false);
  });
});

describe('get and list', () => {
  beforeEach(async () => {
    await bench.call('apply', { manifest: SPRINT });
  });

  it.each(['Team', 'teams', 'tm', 'team.agentiso.dev'])('knows %s', async (kind) => {
    const { answer, texts } = await bench.call('get', { kind, name: 'sprint' });
    expect(answer.object).toMatchObject({ kind: 'Team', metadata: { name: 'sprint' }, spec: { roles: [{ name: 'coder' }] } });
    expect(answer.object.metadata).not.toHaveProperty('managedFields');
    expect(texts[0]).toContain('It is data');
  });

  it('knows what was probably meant', async () => {
    expect((await bench.call('get', { kind: 'Team', name: 'sprnt' })).error).toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('did you mean sprint?'),
    });
    expect((await bench.call('get', { kind: 'Task', name: 'build' })).error?.message).toContain('did you mean sprint-build?');
    expect((await bench.call('get', { kind: 'temas', name: 'x' })).error).toMatchObject({
      code: 'Invalid',
      field: 'kind',
      message: expect.stringContaining('did you mean teams?'),
    });
    expect((await bench.call('get', { kind: 'Team', name: '../../x' })).error).toMatchObject({ code: 'Invalid', field: 'name' });
  });

  it('shows a row each, for viewers too', async () => {
    const { answer } = await bench.call('list', { kind: 'tk', team: 'sprint' }, { role: 'viewer' });
    expect(answer).toMatchObject({ count: 1, is_cut: false });
    expect(answer.rows).toEqual([{ name: 'sprint-build', namespace: 'default', columns: expect.objectContaining({ team: 'sprint' }) }]);
    expect((await bench.call('list', { kind: 'Task', team: 'other' })).answer.rows).toEqual([]);
    expect((await bench.call('list', { kind: 'Namespace', team: 'sprint' })).error).toMatchObject({ code: 'Invalid', field: 'team' });
    expect((await bench.call('list', { kind: 'Task', field_selector: 'spec.color=red' })).error?.code).toBe('Invalid');
  });

  it('goes on where it was cut, by number and by size', async () => {
    for (let at = 10; at < 25; at++) {
      await bench.client.create(newTask(`sprint-t${at}`, { team: 'sprint', description: 'x'.repeat(7_000) }));
    }
    const first = await bench.call('list', { kind: 'Task', limit: 2 });
    expect(first.answer).toMatchObject({ count: 2, is_cut: true, remaining: 14 });
    const second = await bench.call('list', { kind: 'Task', limit: 200, next: first.answer.next });
    expect([...first.answer.rows, ...second.answer.rows].map(({ name }) => name)).toEqual(await names('Task'));
    const whole = await bench.call('list', { kind: 'Task', full: true });
    expect(whole.answer).toMatchObject({ is_cut: true, next: expect.any(String) });
    expect(Buffer.byteLength(whole.texts.at(-1) ?? '')).toBeLessThan(80 * 1024);
    const rest = await bench.call('list', { kind: 'Task', full: true, next: whole.answer.next });
    const shown = [...whole.answer.objects, ...rest.answer.objects].map(({ metadata }) => metadata.name);
    expect(shown).toEqual((await names('Task')).slice(0, shown.length));
    expect(shown.length).toBeGreaterThan(whole.answer.count);
  });

  it('cuts long texts of one object, and says so', async () => {
    await bench.client.create(newTask('sprint-long', { team: 'sprint', description: 'ä'.repeat(5_000) }));
    const { answer } = await bench.call('get', { kind: 'Task', name: 'sprint-long' });
    expect(answer.is_cut).toBe(true);
    expect(answer.object.spec.description).toBe(`${'ä'.repeat(4_096)}… (1808 bytes more)`);
  });
});

describe('watch', () => {
  it('answers at the first change after a version, also when that was before the call', async () => {
    await bench.call('apply', { manifest: SPRINT });
    const { version } = (await bench.call('list', { kind: 'Task' })).answer;
    await bench.setStatus('Task', 'sprint-build', { phase: 'Running' });
    const { answer } = await bench.call('watch', { kind: 'Task', team: 'sprint', since_version: version });
    expect(answer).toMatchObject({ timed_out: false, events: [{ type: 'MODIFIED', object: { name: 'sprint-build', phase: 'Running' } }] });
    const waiting = bench.call('watch', { kind: 'Task', name: 'sprint-build', since_version: answer.version });
    await bench.client.delete({ kind: 'Task', namespace: 'default', name: 'sprint-build' });
    expect((await waiting).answer.events).toMatchObject([{ type: 'DELETED', object: { name: 'sprint-build' } }]);
  });

  it('begins now without a version, and says when nothing happened', async () => {
    await bench.call('apply', { manifest: SPRINT });
    const { answer } = await bench.call('watch', { kind: 'Team', timeout_seconds: 1 });
    expect(answer).toMatchObject({ events: [], timed_out: true });
    expect((await bench.call('watch', { kind: 'Team', since_version: '999999' })).error).toMatchObject({
      code: 'Expired',
      hint: expect.stringContaining('list'),
    });
  });

  it('ends with its client', async () => {
    const leaving = new AbortController();
    const waiting = bench.call('watch', { kind: 'Team', timeout_seconds: 120 }, { signal: leaving.signal });
    await vi.waitFor(() => expect(bench.progress).toHaveLength(1), SOON);
    leaving.abort();
    expect((await waiting).error?.code).toBe('Cancelled');
  });
});

describe('wait_for', () => {
  beforeEach(async () => {
    await bench.call('apply', { manifest: SPRINT });
  });

  it('comes back when the phase is there, with progress on the way', async () => {
    const waiting = bench.call('wait_for', { kind: 'Task', name: 'sprint-build', phase: 'Succeeded' });
    await bench.setStatus('Task', 'sprint-build', { phase: 'Running' });
    await vi.waitFor(() => expect(bench.progress).toContain('Task sprint-build is Running'), SOON);
    await bench.setStatus('Task', 'sprint-build', { phase: 'Succeeded' });
    expect((await waiting).answer).toMatchObject({ met: true, timed_out: false, object: { phase: 'Succeeded' } });
  });

  it('does not wait for what has ended otherwise, or is gone', async () => {
    await bench.setStatus('Task', 'sprint-build', { phase: 'Failed' });
    const failed = await bench.call('wait_for', { kind: 'Task', name: 'sprint-build', phase: 'Succeeded' });
    expect(failed.answer).toMatchObject({ met: false, timed_out: false, reason: 'it has ended: Failed' });
    const waiting = bench.call('wait_for', { kind: 'Team', name: 'sprint', condition: 'Ready' });
    await vi.waitFor(() => expect(bench.progress).toContain('Team sprint is new'), SOON);
    await bench.client.delete({ kind: 'Team', namespace: 'default', name: 'sprint' });
    expect((await waiting).answer).toMatchObject({ met: false, reason: 'it was deleted' });
  });

  it('believes a condition only of the present spec, and says when the time is over', async () => {
    const ready = { type: 'Ready', status: 'True', reason: 'AgentsReady', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    await bench.setStatus('Team', 'sprint', { conditions: [{ ...ready, observedGeneration: 0 }] });
    const asked = { kind: 'Team', name: 'sprint', condition: 'Ready', timeout_seconds: 1 };
    expect((await bench.call('wait_for', asked)).answer).toMatchObject({ met: false, timed_out: true });
    await bench.setStatus('Team', 'sprint', { conditions: [{ ...ready, observedGeneration: 1 }] });
    expect((await bench.call('wait_for', asked)).answer).toMatchObject({ met: true });
  });

  it('refuses two wishes at once and names that are not there', async () => {
    const both = { kind: 'Team', name: 'sprint', phase: 'Ready', condition: 'Ready' };
    expect((await bench.call('wait_for', both)).error?.message).toContain('exactly one');
    expect((await bench.call('wait_for', { kind: 'Team', name: 'sprin', phase: 'Ready' })).error?.code).toBe('NotFound');
    expect((await bench.call('wait_for', { kind: 'Team', name: 'sprin', deleted: true })).answer.met).toBe(true);
  });
});

describe('explain', () => {
  it('tells fields with types, defaults and values', async () => {
    const { answer } = await bench.call('explain', { kind: 'team', field: 'spec.roles' }, { role: 'viewer' });
    expect(answer).toMatchObject({ kind: 'Team', api_version: 'agentiso.dev/v1alpha1', type: '[]Object' });
    const byName = new Map(answer.fields.map((field: { name: string }) => [field.name, field]));
    expect(byName.get('name')).toMatchObject({ is_required: true, type: 'string' });
    expect(byName.get('count')).toMatchObject({ default: '1', range: '1..1000' });
    expect(byName.get('restartPolicy')).toMatchObject({ values: ['Always', 'OnFailure', 'Never'] });
    const { error } = await bench.call('explain', { kind: 'team', field: 'spec.role' });
    expect(error).toMatchObject({ code: 'NotFound', message: expect.stringContaining('did you mean roles?') });
  });
});

describe('why', () => {
  it('follows what a task waits for, by short name and without a kind', async () => {
    await bench.call('apply', { manifest: SPRINT });
    await bench.client.create(newTask('sprint-test', { team: 'sprint', dependsOn: ['build'] }));
    await bench.setStatus('Task', 'sprint-build', { phase: 'Failed', reason: 'NonZeroExit', observedGeneration: 1 });
    await bench.setStatus('Task', 'sprint-test', { phase: 'Blocked', reason: 'DependencyFailed', observedGeneration: 1 });
    const { answer } = await bench.call('why', { name: 'test' });
    expect(answer).toMatchObject({ object: 'task/sprint-test', state: 'stuck' });
    expect(answer.steps.at(-1).object).toBe('task/sprint-build');
    expect((await bench.call('why', { kind: 'Task', name: 'sprint-test' })).answer).toMatchObject({ state: 'stuck', steps: answer.steps });
    const all = await bench.call('why');
    expect(all.answer.blockers.map(({ object }: { object: string }) => object)).toContain('task/sprint-build');
    expect((await bench.call('why', { name: 'tset' })).error?.message).toContain('did you mean test?');
  });
});

describe('delete', () => {
  it('is over when the object is gone, and says what is kept of an agent', async () => {
    await bench.client.create(newTeam('sprint', {}));
    const draft = newAgent('sprint-worker', { team: 'sprint' });
    await bench.client.create<Agent>({ ...draft, metadata: { ...draft.metadata, finalizers: ['agentiso.dev/workspace'] } } as never);
    const waiting = bench.call('delete', { kind: 'ag', name: 'sprint-worker' });
    const key = { kind: 'Agent', namespace: 'default', name: 'sprint-worker' };
    await vi.waitFor(async () => expect((await bench.client.get(key)).metadata.deletionTimestamp).toBeDefined(), SOON);
    const marked = await bench.setStatus('Agent', 'sprint-worker', { rescued: 'refs/agentiso/rescue/1' });
    await vi.waitFor(() => expect(bench.progress).not.toEqual([]), SOON);
    await bench.client.update({ ...marked, metadata: { ...marked.metadata, finalizers: [] } });
    expect((await waiting).answer).toEqual({
      kind: 'Agent',
      name: 'sprint-worker',
      namespace: 'default',
      deleted: true,
      kept: [{ agent: 'sprint-worker', ref: 'refs/agentiso/rescue/1' }],
    });
    expect(await names('Agent')).toEqual([]);
  });

  it('does not wait when not asked to, and refuses viewers', async () => {
    const draft = newTeam('sprint', {});
    await bench.client.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['agentiso.dev/team'] } } as never);
    expect((await bench.call('delete', { kind: 'Team', name: 'sprint' }, { role: 'viewer' })).error?.code).toBe('Forbidden');
    expect((await bench.call('delete', { kind: 'Team', name: 'sprint', wait: false })).answer).toMatchObject({ deleted: false, kept: [] });
    const late = await bench.call('team_destroy', { team: 'sprint', timeout_seconds: 1 });
    expect(late.answer).toMatchObject({ phase: 'Terminating', timed_out: true });
    expect((await bench.call('delete', { kind: 'Team', name: 'spring' })).error?.message).toContain('did you mean sprint?');
  });
});

describe('teams', () => {
  it('creates from roles, waits until it is ready, and lists it', async () => {
    const waiting = bench.call('team_create', {
      name: 'sprint',
      roles: [{ name: 'lead' }, { name: 'coder', count: 2 }],
      description: 'Builds it.',
      max_agents: 4,
      network: { allowInterAgent: true },
    });
    await vi.waitFor(async () => expect(await names('Team')).toEqual(['sprint']), SOON);
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'AgentsReady',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await bench.client.create(newAgent('sprint-lead', { team: 'sprint', roleName: 'lead' }));
    await bench.setStatus('Agent', 'sprint-lead', { phase: 'Ready', workspaceId: 'w-1', ip: '10.0.0.2', isolation: { driver: 'sandbox' } });
    await bench.setStatus('Team', 'sprint', { phase: 'Ready', members: [{ name: 'lead', phase: 'Ready' }], conditions: [ready] });
    const { answer } = await waiting;
    expect(answer).toMatchObject({
      ready: true,
      team: {
        name: 'sprint',
        phase: 'Ready',
        agents: [{ name: 'lead', full_name: 'sprint-lead', workspace_id: 'w-1', ip: '10.0.0.2', isolation: 'sandbox' }],
        budget: { max_agents: 4 },
      },
    });
    expect((await team()).spec).toMatchObject({ network: { allowInterAgent: true }, description: 'Builds it.' });
    expect((await bench.call('team_list')).answer).toMatchObject({ count: 1, teams: [{ name: 'sprint', agent_count: 1, max_agents: 4 }] });
    expect((await bench.call('team_status', { team: 'sprint' })).answer).toMatchObject({ phase: 'Ready', conditions: [{ type: 'Ready' }] });
    expect(bench.resources[0]).toBe('team/sprint');
  });

  it.each([
    {
      name: 'a team that exists',
      input: { name: 'old', roles: [{ name: 'a' }] },
      error: { code: 'AlreadyExists', message: "team 'old' already exists" },
    },
    { name: 'no roles', input: { name: 'x' }, error: { code: 'Invalid', field: 'roles' } },
    { name: 'a bad name', input: { name: 'Not_good', roles: [{ name: 'a' }] }, error: { code: 'Invalid', field: 'name' } },
    { name: 'an unknown field of a role', input: { name: 'x', roles: [{ name: 'a', cuont: 2 }] }, error: { code: 'Invalid' } },
    { name: 'too many agents', input: { name: 'x', max_agents: 30, roles: [{ name: 'a', count: 21 }] }, error: { code: 'QuotaExceeded' } },
    { name: 'a parent that is not there', input: { name: 'x', parent: 'nobody', roles: [{ name: 'a' }] }, error: { code: 'NotFound' } },
    { name: 'two documents', input: { manifest: SPRINT }, error: { code: 'Invalid', message: expect.stringContaining('one document') } },
  ])('refuses $name', async ({ input, error }) => {
    await bench.client.create(newTeam('old', {}));
    const refused = await bench.call('team_create', { ...input, wait: false });
    expect(refused.error).toMatchObject(error);
    expect(refused.error?.hint).toBeTruthy();
    expect(await names('Team')).toEqual(['old']);
  });

  it('takes a manifest, and a repository by path or address', async () => {
    const [manifest] = SPRINT.split('---');
    expect((await bench.call('team_create', { manifest, wait: false })).answer).toMatchObject({
      ready: false,
      team: { phase: 'Creating' },
    });
    const roles = [{ name: 'a' }];
    await bench.call('team_create', { name: 'b', roles, repo: '/srv/shop', repo_ref: 'dev', wait: false });
    await bench.call('team_create', { name: 'c', roles, repo: 'https://example.com/shop.git', wait: false });
    expect((await team('b')).spec.repo).toEqual({ path: '/srv/shop', ref: 'dev' });
    expect((await team('c')).spec.repo).toEqual({ url: 'https://example.com/shop.git', ref: 'main' });
  });
});

it('charges team_create for every agent', async () => {
  await bench.end();
  bench = await openObjectBench({ createBurst: 3 });
  const create = (name: string) => bench.call('team_create', { name, roles: [{ name: 'a', count: 3 }], wait: false });
  expect((await create('x')).error).toBeUndefined();
  expect((await create('y')).error?.code).toBe('RateLimited');
});

describe('agents', () => {
  const key = { kind: 'Agent', namespace: 'default', name: 'sprint-coder-1' };
  beforeEach(async () => {
    await bench.client.create(newTeam('sprint', { roles: [{ name: 'coder', count: 2 }] }));
    await bench.client.create(newAgent(key.name, { team: 'sprint', roleName: 'coder', skills: ['rust'] }));
    await bench.client.create(newTask('sprint-build', { team: 'sprint' }));
    await bench.client.create(newTask('sprint-check', { team: 'sprint', assignTo: 'coder-1' }));
    await bench.setStatus('Agent', key.name, { phase: 'Working', messagesPending: 3, pid: 4711 });
    await bench.setStatus('Task', 'sprint-build', { phase: 'Running', owner: key.name });
    await bench.setStatus('Task', 'sprint-check', { phase: 'Pending' });
  });

  it('are told with what they do', async () => {
    const { answer } = await bench.call('get_agent_status', { team: 'sprint' }, { role: 'viewer' });
    expect(answer).toMatchObject({ count: 1, is_cut: false });
    expect(answer.agents[0]).toMatchObject({
      name: 'coder-1',
      role: 'coder',
      skills: ['rust'],
      status: 'running',
      current_tasks: ['build'],
      messages_pending: 3,
      requests_pending: 1,
      pid: 4711,
    });
    expect((await bench.call('get_agent_status', { team: 'sprinter' })).error?.message).toContain('did you mean sprint?');
    expect((await bench.call('get_agent_status', { team: 'sprint', agent: 'coder-2' })).error?.message).toContain('did you mean coder-1?');
  });

  it('are asked to stop with a reason, and when', async () => {
    const waiting = bench.call('shutdown_agent', { team: 'sprint', agent: 'coder-1', reason: 'enough' });
    await vi.waitFor(async () => expect((await bench.client.get<Agent>(key)).spec.desiredState).toBe('Stopped'), SOON);
    const { metadata } = await bench.client.get<Agent>(key);
    expect(JSON.parse(metadata.annotations?.[STOP_REQUEST_ANNOTATION] ?? '')).toEqual({
      from: 'orchestrator',
      reason: 'enough',
      generation: metadata.generation,
    });
    const shutdown = { requestedAt: '2026-01-01T00:00:00Z', deadline: '2026-01-01T00:00:30Z' };
    await bench.setStatus('Agent', key.name, { phase: 'Stopping', observedGeneration: metadata.generation, shutdown });
    expect((await waiting).answer).toEqual({ agent: key.name, acknowledged: true, deadline: shutdown.deadline, phase: 'Stopping' });
  });

  it('are killed without grace, also while they stop, and only then is it said', async () => {
    const first = bench.call('shutdown_agent', { team: 'sprint', agent: 'coder-1' });
    await vi.waitFor(async () => expect((await bench.client.get<Agent>(key)).spec.desiredState).toBe('Stopped'), SOON);
    const { generation } = (await bench.client.get<Agent>(key)).metadata;
    await bench.setStatus('Agent', key.name, { phase: 'Stopping', observedGeneration: generation });
    await first;
    const killing = bench.call('kill_agent', { team: 'sprint', agent: key.name });
    const markOf = async () => JSON.parse((await bench.client.get<Agent>(key)).metadata.annotations?.[STOP_REQUEST_ANNOTATION] ?? '{}');
    await vi.waitFor(async () => expect(await markOf()).toMatchObject({ isImmediate: true, generation }), SOON);
    await bench.setStatus('Agent', key.name, { phase: 'Stopped' });
    expect((await killing).answer).toEqual({ agent: key.name, killed: true, phase: 'Stopped' });
  });
});
