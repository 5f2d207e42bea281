import { describe, expect, it } from 'vitest';
import { localClient } from '#client/local.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { checkAtFrontDoor, type FrontDoorOptions } from './front-door.ts';
import { admission, kinds } from './kinds.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Draft, KindObject } from './meta.ts';
import type { Task, Team } from './types.ts';

/** A store without a front door, as files find it, and the front door beside it. */
function setUp(options: FrontDoorOptions = {}) {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  const get = <T extends KindObject>(kind: T['kind'], name: string) => store.get({ kind, namespace: 'default', name }) as T;
  return {
    store,
    client,
    get,
    put: (draft: Draft) => client.create(draft),
    /** What it warns of, or throws. */
    ask: (draft: unknown, old?: KindObject) => checkAtFrontDoor({ object: admission.admit(draft as KindObject, old), old }, store, options),
    /** As a controller that has looked at the team and set aside these. */
    decide: (name: string, reservations: { uid: string; name: string; maxAgents: number }[] = []) =>
      client.updateStatus<Team>({ ...get<Team>('Team', name), status: { observedGeneration: 1, budget: { reservations } } }),
  };
}

const roles = (count: number, more: object = {}) => [{ name: 'dev', count, ...more }];

describe('a sub-team', () => {
  it('is refused when there is no such parent, or it is being deleted', async () => {
    const { put, ask, client, get } = setUp();
    expect(() => ask(newTeam('sub', { parent: 'top' }))).toThrow(
      expect.objectContaining({
        code: 'Invalid',
        reason: 'ParentNotFound',
        message:
          'Team "sub" is invalid: spec.parent: Not found: "top": there is no team of that name in namespace default; create it first, or leave parent out (ParentNotFound)',
      }),
    );
    await put({ ...newTeam('top', {}), metadata: { name: 'top', namespace: 'default', finalizers: ['x/held'] } });
    expect(ask(newTeam('sub', { parent: 'top', budget: { maxAgents: 2 } }))).toEqual([]);
    await client.delete({ kind: 'Team', namespace: 'default', name: 'top' });
    const wide = newTeam('sub', { parent: 'top', network: { allowInternet: true } });
    await put(wide);
    expect(() => ask(wide)).toThrow(
      expect.objectContaining({ code: 'Conflict', message: 'Team sub: its parent top is being deleted; name another or wait' }),
    );
    expect(get<Team>('Team', 'top').metadata.deletionTimestamp).toBeDefined();
  });

  it('is refused at level 4, and below a parent that wants none', async () => {
    const { put, ask } = setUp();
    for (const [name, parent] of [['a'], ['b', 'a'], ['c', 'b'], ['d', 'c']]) await put(newTeam(name as string, parent ? { parent } : {}));
    expect(() => ask(newTeam('e', { parent: 'd' }))).toThrow(
      expect.objectContaining({
        reason: 'DepthExceeded',
        fields: [
          expect.objectContaining({
            path: 'spec.parent',
            message: 'Forbidden: it would be at level 4; the deepest level is 3 (limits.maxNestingDepth) (DepthExceeded)',
          }),
        ],
      }),
    );
    await put(newTeam('flat', { budget: { maxDepth: 0 } }));
    expect(() => ask(newTeam('below', { parent: 'flat' }))).toThrow('budget.maxDepth of team flat is 0');
  });

  it('is refused when its parent has no room, with what the room is spent on', async () => {
    const { put, ask, decide, get } = setUp();
    await put(newTeam('top', { roles: roles(3), budget: { maxAgents: 8 } }));
    await put(newTeam('docs', { parent: 'top', budget: { maxAgents: 2 } }));
    const wide = newTeam('sub', { parent: 'top', budget: { maxAgents: 4 } });
    const says =
      'spec.budget.maxAgents: Forbidden: team top has no room for the 4 agents of sub: its budget.maxAgents is 8: 3 of its own, 2 set aside for docs; 3 remain; ask for at most 3, or raise the budget of top (QuotaExceeded)';
    // Counted before a controller has set anything aside, and afterwards.
    expect(() => ask(wide)).toThrow(says);
    await decide('docs');
    await decide('top', [{ uid: get<Team>('Team', 'docs').metadata.uid, name: 'docs', maxAgents: 2 }]);
    expect(() => ask(wide)).toThrow(expect.objectContaining({ reason: 'QuotaExceeded', message: expect.stringContaining(says) }));
    expect(ask(newTeam('sub', { parent: 'top', budget: { maxAgents: 3 } }))).toEqual([]);
    // One that was looked at and got nothing, as it came in a file, takes no room.
    await put(newTeam('greedy', { parent: 'top', budget: { maxAgents: 9 } }));
    expect(() => ask(newTeam('sub', { parent: 'top', budget: { maxAgents: 3 } }))).toThrow(
      '9 set aside for greedy; 0 remain; raise the budget',
    );
    await decide('greedy');
    expect(ask(newTeam('sub', { parent: 'top', budget: { maxAgents: 3 } }))).toEqual([]);
  });

  it('is refused when a team further up has not given its parent what it needs', async () => {
    const { put, ask, decide, get } = setUp();
    await put(newTeam('root', { budget: { maxAgents: 10 } }));
    await put(newTeam('wide', { parent: 'root', budget: { maxAgents: 10 } }));
    await put(newTeam('mid', { parent: 'wide', budget: { maxAgents: 5 } }));
    for (const name of ['root', 'wide', 'mid']) await decide(name);
    expect(() => ask(newTeam('leaf', { parent: 'wide', budget: { maxAgents: 2 } }))).toThrow(
      'spec.budget.maxAgents: Forbidden: team root has no room for the 10 agents of wide, and leaf needs 2 of them (QuotaExceeded)',
    );
    expect(() => ask(newTeam('leaf', { parent: 'mid', budget: { maxAgents: 2 } }))).toThrow(
      'team root has no room for the 10 agents of wide',
    );
    expect(get<Team>('Team', 'leaf')).toBeUndefined();
  });

  it('may be changed as long as it does not grow beyond the room there is', async () => {
    const { put, ask, get } = setUp();
    await put(newTeam('top', { budget: { maxAgents: 5 } }));
    await put(newTeam('sub', { parent: 'top', budget: { maxAgents: 9 } }));
    const sub = get<Team>('Team', 'sub');
    const changed = (maxAgents: number) => ({ ...sub, spec: { ...sub.spec, budget: { ...sub.spec.budget, maxAgents } } });
    expect(ask(changed(8), sub)).toEqual([]);
    expect(ask({ ...sub, spec: { ...sub.spec, description: 'other' } }, sub)).toEqual([]);
    expect(() => ask(changed(10), sub)).toThrow('team top has no room for the 10 agents of sub');
  });
});

describe('a Team beside the limits', () => {
  const limits = { ...DEFAULT_LIMITS, maxAgents: 10, maxAgentsPerTeam: 6, maxMemoryMiB: 4096 };

  it('is refused over the cap of one team', async () => {
    const { ask, put } = setUp({ limits });
    expect(() => ask(newTeam('a', { roles: roles(7, { resources: { memoryMiB: 64 } }) }))).toThrow(
      'spec.roles: Forbidden: too many agents of one team: limit 6, used 0, asked 7 (limits.maxAgentsPerTeam); ask for less, or make room first (QuotaExceeded)',
    );
    await put(newTeam('a', { roles: roles(5) }));
    await put(newAgent('one'));
    expect(() => ask(newAgent('two'))).toThrow('spec.team: Forbidden: too many agents of one team: limit 6, used 6, asked 1');
  });

  it('is refused over the number of agents and the memory of the machine, counted once whether asked for or there', async () => {
    const { ask, put, get } = setUp({ limits });
    await put(newTeam('a', { roles: roles(4) }));
    await put({ ...newAgent('a-dev-1') });
    await put(newTeam('b', { roles: roles(3) }));
    expect(ask(newTeam('c', { roles: roles(1) }))).toEqual([]);
    expect(() => ask(newTeam('c', { roles: roles(4, { resources: { memoryMiB: 64 } }) }))).toThrow(
      expect.objectContaining({ reason: 'QuotaExceeded', message: expect.stringContaining('too many agents: limit 10, used 7, asked 4') }),
    );
    expect(() => ask(newTeam('c', { roles: roles(2) }))).toThrow('too many MiB of memory: limit 4096, used 3584, asked 1024');
    const b = get<Team>('Team', 'b');
    const grown = (count: number) => ({ ...b, spec: { ...b.spec, roles: [{ ...b.spec.roles[0], count }] } });
    expect(ask(grown(4), b)).toEqual([]);
    expect(() => ask(grown(5), b)).toThrow('limit 4096, used 3584, asked 1024');
    expect(ask(grown(2), b)).toEqual([]);
  });

  it('is asked for no more than that when it comes with others', async () => {
    const { ask } = setUp({ limits, isPartOfSet: true });
    expect(ask(newTeam('sub', { parent: 'top' }))).toEqual([]);
    expect(ask(newTask('x', { team: 'a', dependsOn: ['y'] }))).toEqual([]);
    expect(() => ask(newTeam('a', { roles: roles(7) }))).toThrow('too many agents of one team');
  });
});

describe('an Agent made by hand', () => {
  it('needs its team', () => {
    expect(() => setUp().ask(newAgent('one'))).toThrow(
      'Agent "one" is invalid: spec.team: Not found: "a": there is no team of that name in namespace default; create it first (TeamNotFound)',
    );
  });
});

describe('a Team', () => {
  it('is refused for names that others have', async () => {
    const { put, ask } = setUp();
    await put(newAgent('dev', { team: 'a' }));
    await put(newTask('build', { team: 'a' }));
    await put(newTask('a-test', { team: 'b' }));
    const tasks = [
      { name: 'build', command: 'make' },
      { name: 'test', command: 'make test' },
    ];
    expect(() => ask(newTeam('a', { roles: roles(1), tasks }))).toThrow(
      expect.objectContaining({
        fields: [
          expect.objectContaining({
            path: 'spec.roles[0].name',
            message: 'Duplicate value: "dev": Agent dev exists and was not made by this team; rename or delete one of them (NameTaken)',
          }),
          expect.objectContaining({ path: 'spec.tasks[0].name', message: expect.stringContaining('Task build exists') }),
          expect.objectContaining({ path: 'spec.tasks[1].name', message: expect.stringContaining('Task a-test exists') }),
        ],
      }),
    );
  });

  it('is refused for a task that goes to nobody', async () => {
    const { put, ask } = setUp();
    await put(newAgent('byhand', { team: 'a' }));
    const task = (assignTo: string) => newTeam('a', { roles: roles(2), tasks: [{ name: 't', command: 'true', assignTo }] });
    for (const name of ['dev', 'dev-1', 'a-dev-2', 'byhand']) expect(ask(task(name))).toEqual([]);
    expect(() => ask(task('dve'))).toThrow(
      'spec.tasks[0].assignTo: Not found: "dve": team a has no agent or role of that name; did you mean "dev"? (AssigneeNotFound)',
    );
  });
});

describe('a Task', () => {
  it('is warned of a dependency that is not there yet, stored or in the list of its team', async () => {
    const { put, ask } = setUp();
    await put(newTeam('a', { tasks: [{ name: 'planned', command: 'true' }] }));
    await put(newTask('a-stored'));
    await put(newTask('a-foreign', { team: 'b' }));
    const dependsOn = ['stored', 'a-stored', 'planned', 'a-planned', 'foreign', 'nowhere'];
    expect(ask(newTask('a-x', { dependsOn }))).toEqual([
      'spec.dependsOn[4]: there is no task "foreign" in team a yet; this one stays Blocked until there is',
      'spec.dependsOn[5]: there is no task "nowhere" in team a yet; this one stays Blocked until there is',
    ]);
  });

  it('is refused when it closes a circle, named in short, whether it is new or changes', async () => {
    const { put, ask, get } = setUp();
    await put(newTask('a-b', { dependsOn: ['c'] }));
    await put(newTask('a-c', { dependsOn: ['x'] }));
    const says =
      'spec.dependsOn[1]: Invalid value: "b": tasks that wait for each other never start: x -> b -> c -> x; remove one of these dependencies (DependencyCycle)';
    expect(() => ask(newTask('a-x', { dependsOn: ['gone', 'b'] }))).toThrow(
      expect.objectContaining({ reason: 'DependencyCycle', message: expect.stringContaining(says) }),
    );
    expect(ask(newTask('a-y', { dependsOn: ['b'] }))).toEqual([]);
    await put(newTask('a-x'));
    const x = get<Task>('Task', 'a-x');
    expect(() => ask({ ...x, spec: { ...x.spec, dependsOn: ['a-b'] } }, x)).toThrow('x -> b -> c -> x');
    // Others may be changed in a circle that came in files, and every one may leave it.
    await put(newTask('p', { dependsOn: ['q'] }));
    await put(newTask('q', { dependsOn: ['p'] }));
    const q = get<Task>('Task', 'q');
    expect(ask({ ...q, spec: { ...q.spec, title: 'still' } }, q)).toEqual([]);
    expect(ask({ ...q, spec: { ...q.spec, dependsOn: [] } }, q)).toEqual([]);
    expect(ask(newTask('r', { dependsOn: ['p'] }))).toEqual([]);
  });

  it('looks for no way round when nobody waits for it', async () => {
    const { put, ask } = setUp({ hasDependents: () => false });
    await put(newTask('b', { dependsOn: ['c'] }));
    expect(ask(newTask('c', { dependsOn: ['b'] }))).toEqual([]);
  });

  it('is refused when its team has nobody it could go to, and not when there is no team', async () => {
    const { put, ask, get } = setUp();
    expect(ask(newTask('t', { assignTo: 'dev' }))).toEqual([]);
    await put(newTeam('a', { roles: [{ name: 'dev', count: 2 }, { name: 'lead' }] }));
    expect(() => ask(newTask('t', { assignTo: 'tester' }))).toThrow(
      'spec.assignTo: Not found: "tester": team a has no agent or role of that name; its roles are dev, lead (AssigneeNotFound)',
    );
    await put(newTask('t', { assignTo: 'tester' }));
    const t = get<Task>('Task', 't');
    expect(ask({ ...t, spec: { ...t.spec, title: 'was so before' } }, t)).toEqual([]);
  });
});

describe('a model that is known not to be there', () => {
  const models = (provider: string) => (provider === 'openai' ? ['gpt-x'] : undefined);

  it('is refused with those that are, in a role and in an agent, and never again for what stands already', async () => {
    const { ask, put, get } = setUp({ models });
    const bad = roles(1, { backend: 'codex', model: 'gpt-9' });
    expect(() => ask(newTeam('a', { roles: bad }))).toThrow('spec.roles[0].model: Invalid value: "gpt-9": provider openai has gpt-x');
    expect(ask(newTeam('a', { roles: roles(1, { backend: 'codex', model: 'gpt-x' }) }))).toEqual([]);
    await put(newTeam('a', { roles: bad }));
    const old = get<Team>('Team', 'a');
    expect(ask({ ...old, spec: { ...old.spec, roles: [{ ...old.spec.roles[0], count: 2 }] } }, old)).toEqual([]);
    expect(() => ask({ ...old, spec: { ...old.spec, roles: [{ ...old.spec.roles[0], model: 'gpt-8' }] } }, old)).toThrow('"gpt-8"');
    expect(() => ask(newAgent('a-two', { team: 'a', backend: 'codex', model: 'gpt-9' }))).toThrow('spec.model: Invalid value: "gpt-9"');
  });
});
