import { describe, expect, it } from 'vitest';
import { newAgent, newTeam } from '../../test/support/controllers.ts';
import { admission } from './kinds.ts';
import type { KindObject } from './meta.ts';

const admit = (draft: unknown, old?: KindObject) => admission.admit(draft as KindObject, old);
const command = 'true';

describe('a Team', () => {
  it.each([
    {
      name: 'tasks in a circle',
      spec: { tasks: [{ name: 'a', dependsOn: ['c'] }, { name: 'b', dependsOn: ['x-a'] }, { name: 'c', dependsOn: ['b'] }, { name: 'd' }] },
      says: 'spec.tasks[0].dependsOn[0]: Invalid value: "c": tasks that wait for each other never start: a -> c -> b -> a; remove one of these dependencies (DependencyCycle)',
    },
    {
      name: 'a dependency that is not in its list',
      spec: { tasks: [{ name: 'build' }, { name: 'test', dependsOn: ['build', 'biuld'] }] },
      says: 'spec.tasks[1].dependsOn[1]: Not found: "biuld": no task of this list has that name; did you mean "build"?',
    },
    {
      name: 'a task that waits for itself',
      spec: { tasks: [{ name: 'a', dependsOn: ['a'] }] },
      says: 'spec.tasks[0].dependsOn: Invalid value: "object": a task cannot depend on itself; remove its own name from dependsOn',
    },
    {
      name: 'a task twice',
      spec: { tasks: [{ name: 'a' }, { name: 'a' }] },
      says: 'spec.tasks[1]: Duplicate value: {"name":"a"}',
    },
    {
      name: 'two roles that give one name',
      spec: { roles: [{ name: 'dev-1' }, { name: 'dev', count: 2 }] },
      says: 'spec.roles[1].name: Duplicate value: "dev": roles dev-1 and dev would both have an agent dev-1; rename one of them',
    },
    {
      name: 'a schema that is none',
      spec: { roles: [{ name: 'dev', inputSchema: { type: 'texst' } }] },
      says: /^Team "x" is invalid: spec.roles\[0\].inputSchema: Invalid value: "object": not a JSON Schema: type must be /,
    },
    {
      name: 'a reserved role name',
      spec: { roles: [{ name: 'all' }] },
      says: /orchestrator, system, all and self are reserved; choose another role name$/,
    },
    { name: 'two leads', spec: { roles: [{ name: 'lead', count: 2 }] }, says: /the role 'lead' must have count 1/ },
    { name: 'a role name too long for its agents', spec: { roles: [{ name: 'r'.repeat(62) }] }, says: /an agent would get a name over 63/ },
    { name: 'more agents than its budget', spec: { roles: [{ name: 'a', count: 11 }] }, says: /exceed budget.maxAgents/ },
  ])('is refused with $name', ({ spec, says }) => {
    const tasks = 'tasks' in spec ? { tasks: (spec.tasks as object[]).map((task) => ({ command, ...task })) } : {};
    const want = typeof says === 'string' ? `Team "x" is invalid: ${says}` : says;
    expect(() => admit(newTeam('x', { ...spec, ...tasks }))).toThrow(want);
  });

  it('is refused for its shape alone when that is wrong', () => {
    expect(() => admit(newTeam('x', { tasks: [{ name: 'a', command, dependsOn: 'b' }] }))).toThrow(/spec.tasks\[0\].dependsOn/);
    expect(() => admit(newTeam('x', { roles: [{ name: 7, count: 'many' }] }))).toThrow(/spec.roles\[0\]/);
  });

  it('may name a task by its full name, and wait for several', () => {
    const tasks = [
      { name: 'a', command },
      { name: 'b', command, dependsOn: ['x-a'] },
      { name: 'c', command, dependsOn: ['a', 'b'] },
    ];
    admit(newTeam('x', { tasks }));
  });

  it('is not judged again for what it was before', () => {
    const team = admit(newTeam('x', {}));
    const wrong = { ...team, spec: { ...(team.spec as object), tasks: [{ name: 'a', command, dependsOn: ['gone'] }] } } as KindObject;
    const stored = { ...wrong, spec: wrong.spec } as KindObject;
    expect(() => admit({ ...stored, metadata: { ...stored.metadata, labels: { a: 'b' } } }, stored)).not.toThrow();
  });
});

describe('an Agent made by hand', () => {
  it('cannot have a name that means somebody else', () => {
    expect(() => admit(newAgent('a-orchestrator'))).toThrow(
      'metadata.name: Invalid value: "a-orchestrator": orchestrator, system, all, self are reserved; choose another name',
    );
    expect(() => admit(newAgent('all'))).toThrow('are reserved');
    admit(newAgent('b-all'));
  });

  it('is refused with a schema that is none', () => {
    expect(() => admit(newAgent('one', { outputSchema: { required: 'a' } }))).toThrow('spec.outputSchema: Invalid value');
  });
});
