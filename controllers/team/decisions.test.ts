import { describe, expect, it } from 'vitest';
import { admission } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { agentsOf, tasksOf } from './expand.ts';
import { membersOf, phaseOf, readyCondition, taskSummaryOf } from './summary.ts';

const admitted = <T extends KindObject>(draft: unknown, status?: unknown) =>
  ({ ...admission.admit(draft as KindObject, undefined), ...(status ? { status } : {}) }) as T;
const agent = (name: string, ready?: [status: string, reason: string, message: string]) =>
  admitted<Agent>(newAgent(name), {
    conditions: ready ? [{ type: 'Ready', status: ready[0], reason: ready[1], message: ready[2], lastTransitionTime: '' }] : [],
  });

describe('expand', () => {
  it.each([
    { roles: [{ name: 'x' }], want: ['a-x'] },
    { roles: [{ name: 'x', count: 1 }], want: ['a-x'] },
    { roles: [{ name: 'x', count: 3 }, { name: 'y' }], want: ['a-x-1', 'a-x-2', 'a-x-3', 'a-y'] },
  ])('names the agents of $roles', ({ roles, want }) => {
    expect(agentsOf(admitted<Team>(newTeam('a', { roles }))).map(({ metadata }) => metadata.name)).toEqual(want);
  });

  it('makes agents and tasks that are valid as they are', () => {
    const tasks = [
      { name: 'one', command: 'true', env: { A: 'b' } },
      { name: 'two', prompt: 'do it', dependsOn: ['one'] },
    ];
    const team = admitted<Team>(newTeam('a', { roles: [{ name: 'x', skills: ['s'], portForwards: [{ guestPort: 80 }] }], tasks }));
    for (const draft of [...agentsOf(team), ...tasksOf(team)]) expect(() => admission.admit(draft as KindObject, undefined)).not.toThrow();
    expect(tasksOf(admitted<Team>(newTeam('a', {})))).toEqual([]);
  });
});

describe('readyCondition', () => {
  it.each<{ name: string; wanted: number; agents: Agent[]; want: string }>([
    { name: 'no agents yet', wanted: 2, agents: [], want: 'False Creating: 0 of 2 agents exist' },
    { name: 'one that has said nothing', wanted: 1, agents: [agent('x')], want: 'False Starting: agent x: has not reported yet' },
    {
      name: 'one in trouble, named with its reason',
      wanted: 2,
      agents: [agent('x', ['True', 'Running', '']), agent('y', ['False', 'CrashLoop', 'exited 6 times'])],
      want: 'False CrashLoop: agent y: exited 6 times',
    },
    { name: 'a reason without words', wanted: 1, agents: [agent('x', ['Unknown', 'Lost', ''])], want: 'False Lost: agent x: Lost' },
    {
      name: 'some ready, some missing',
      wanted: 2,
      agents: [agent('x', ['True', 'Running', ''])],
      want: 'False Creating: 1 of 2 agents exist',
    },
    { name: 'all ready', wanted: 1, agents: [agent('x', ['True', 'Running', ''])], want: 'True AgentsReady: 1 of 1 agents are ready' },
  ])('with $name', ({ wanted, agents, want }) => {
    const { type, status, reason, message } = readyCondition(admitted<Team>(newTeam('a', {})), { wanted, agents });
    expect([type, `${status} ${reason}: ${message}`]).toEqual(['Ready', want]);
  });
});

describe('readyCondition of a team in a special state', () => {
  const ready = agent('x', ['True', 'Running', '']);
  it.each<{ name: string; spec: object; agents: Agent[]; hold?: { reason: string; message: string }; want: string }>([
    { name: 'suspended', spec: { suspend: true }, agents: [ready], want: 'False Suspended' },
    { name: 'held', spec: { suspend: true }, agents: [ready], hold: { reason: 'QuotaExceeded', message: '' }, want: 'False QuotaExceeded' },
    {
      name: 'an agent on its way out',
      spec: {},
      agents: [ready, { ...agent('y'), metadata: { ...agent('y').metadata, annotations: { 'agentiso.dev/draining': 'x' } } }],
      want: 'True AgentsReady',
    },
    {
      name: 'an agent that has not seen its new spec',
      spec: {},
      agents: [{ ...ready, metadata: { ...ready.metadata, generation: 3 }, status: { ...ready.status, observedGeneration: 2 } }],
      want: 'False Updating',
    },
  ])('$name', ({ spec, agents, hold, want }) => {
    const { status, reason } = readyCondition(admitted<Team>(newTeam('a', { ...spec })), { wanted: 1, agents, hold });
    expect(`${status} ${reason}`).toBe(want);
  });
});

describe('summary', () => {
  it('counts tasks by phase', () => {
    const phases = ['Pending', undefined, 'Claimed', 'Running', 'Blocked', 'Succeeded', 'Succeeded', 'Failed'];
    const tasks = phases.map((phase, index) => admitted<Task>(newTask(`t${index}`), phase ? { phase } : {}));
    expect(taskSummaryOf(tasks)).toEqual({ total: 8, pending: 2, claimed: 1, running: 1, blocked: 1, succeeded: 2, failed: 1 });
  });

  it.each([
    { ready: 'True' as const, tasks: { claimed: 0, running: 1 }, isMerging: false, want: 'Working' },
    { ready: 'False' as const, tasks: { claimed: 1, running: 0 }, isMerging: true, want: 'Working' },
    { ready: 'True' as const, tasks: { claimed: 0, running: 0 }, isMerging: false, want: 'Ready' },
    { ready: 'False' as const, tasks: {}, isMerging: false, want: 'Creating' },
    { ready: 'True' as const, tasks: { total: 2, succeeded: 1, failed: 1 }, isMerging: true, want: 'Completing' },
    { ready: 'True' as const, tasks: { total: 2, succeeded: 1, failed: 1 }, isMerging: false, want: 'Ready' },
    { ready: 'True' as const, tasks: { total: 2, succeeded: 1, pending: 1 }, isMerging: true, want: 'Ready' },
  ])('is $want when ready is $ready, tasks are $tasks and merging is $isMerging', ({ ready, tasks, isMerging, want }) => {
    expect(phaseOf({ type: 'Ready', status: ready, reason: 'X', message: '' }, { tasks, isMerging })).toBe(want);
  });

  it('calls members by their short names', () => {
    const team = admitted<Team>(newTeam('a', {}));
    const worker = admitted<Agent>(newAgent('a-worker', { roleName: 'worker' }), {
      phase: 'Ready',
      isolation: { driver: 'vm' },
      ip: '10.99.0.2',
      messagesPending: 0,
      workspaceId: 'w',
      incarnation: 'i',
    });
    expect(membersOf(team, [worker, admitted<Agent>(newAgent('helper'))])).toEqual([
      {
        name: 'worker',
        role: 'worker',
        phase: 'Ready',
        isolation: 'vm',
        ip: '10.99.0.2',
        messagesPending: 0,
        workspaceId: 'w',
        incarnation: 'i',
      },
      { name: 'helper', phase: 'Pending' },
    ]);
  });
});
