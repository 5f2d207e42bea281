import { describe, expect, it } from 'vitest';
import { ask, condition, ready, readyTeam, running, task, team, unready, waitingTask, why } from './why.fixture.ts';

const stalled = (reason: string, message: string, spec = {}) =>
  team('a', { phase: 'Creating', conditions: [condition('Ready', 'False', reason, message)] }, spec);

describe('a team that needs somebody', () => {
  it.each([
    {
      reason: 'NotSupportedYet',
      message: 'this version does not act on spec.repo, spec.merge; remove it to start the team',
      text: 'do without spec.repo and spec.merge:',
      command: `agentiso patch team a -p '{"spec":{"repo":null,"merge":null}}'`,
    },
    {
      reason: 'NameTaken',
      message: 'Agent a-dev exists and does not belong to this team; delete or rename it',
      text: 'rename the role or task, or delete what has its name:',
      command: 'agentiso delete agent a-dev',
    },
    {
      reason: 'NameTaken',
      message: 'two roles give an agent the name a-dev-1; rename one of them',
      text: 'rename one of the roles:',
      command: 'agentiso edit team a',
    },
    {
      reason: 'QuotaExceeded',
      message: 'team a may have 2 agents: 0 agents exist; 5 more have to wait until others are gone',
      spec: { budget: { maxAgents: 2 }, roles: [{ name: 'x', count: 5 }] },
      text: 'ask for fewer agents, or allow team/a more:',
      command: `agentiso patch team a -p '{"spec":{"budget":{"maxAgents":5}}}'`,
    },
    {
      reason: 'QuotaExceeded',
      message: 'team p has no room for the 4 agents of team a: budget.maxAgents is 10: 9 agents of its own; 1 remain',
      text: 'ask for fewer agents, or allow team/p more:',
      command: `agentiso patch team p -p '{"spec":{"budget":{"maxAgents":13}}}'`,
    },
    {
      reason: 'QuotaExceeded',
      message: 'at most 100 agents run here (limits.maxAgents); 99 exist or are being made, team a asks for 2 more',
      text: 'raise limits.maxAgents in the configuration of the daemon',
      command: undefined,
    },
    {
      reason: 'QuotaExceeded',
      message: 'team top has no room for the 9 agents of team p',
      text: 'raise budget.maxAgents of the team that is named',
      command: undefined,
    },
    { reason: 'DepthExceeded', message: 'team a stands too deep', text: 'budget.maxDepth', command: undefined },
    {
      reason: 'ParentNotFound',
      message: 'there is no team p in this namespace',
      text: 'apply a manifest of the parent',
      command: undefined,
    },
    { reason: 'ParentTerminating', message: 'team q is being deleted', text: 'it goes with its parent', command: undefined },
    { reason: 'Novel', message: 'something new', text: 'what happened to it:', command: 'agentiso describe team a' },
  ])('$reason: $message', ({ reason, message, spec, text, command }) => {
    const { state, steps, advice } = ask(stalled(reason, message, spec), [readyTeam('p')]);
    expect([state, steps[0]?.because]).toEqual(['stuck', `${reason}: ${message}`]);
    expect(advice?.text).toContain(text);
    expect(advice?.command).toBe(command);
  });

  it('is suspended', () => {
    expect(ask(stalled('Suspended', 'spec.suspend is true', { suspend: true }))).toMatchObject({
      state: 'fine',
      advice: { command: `agentiso patch team a -p '{"spec":{"suspend":false}}'` },
    });
  });

  it('waits for an agent: of several the one that needs somebody', () => {
    const agents = [unready('x', 'Starting'), ready('y'), unready('z', 'BackendMissing', 'no codex')];
    expect(why(stalled('Starting', 'agent a-x: Starting'), agents).slice(0, 2)).toEqual([
      'team/a is not Ready: it waits for agent/a-x and agent/a-z',
      '  agent/a-z is not Ready: BackendMissing: no codex',
    ]);
  });

  it('says of its parent why that goes', () => {
    const parent = team('p', {}, {}, { deletionTimestamp: '2026-01-02T03:04:00Z', finalizers: ['example.com/hold'] });
    expect(why(stalled('ParentTerminating', 'team p is being deleted', { parent: 'p' }), [parent])[1]).toContain(
      '  team/p is being deleted: the finalizer example.com/hold',
    );
  });
});

describe('a team that needs time', () => {
  it.each([
    ['Creating', '1 of 2 agents exist'],
    ['Starting', 'agent a-x: has not reported yet'],
  ])('%s', (reason, message) => {
    expect(ask(stalled(reason, message)).state).toBe('waiting');
  });
});

describe('a team that is there', () => {
  it.each([
    { tasks: [], want: ['team/a is Ready: its agent is ready and there are no tasks'] },
    { tasks: [task('x', { phase: 'Succeeded' })], want: ['team/a is Ready: its agent is ready, 1 of 1 tasks are done'] },
    {
      tasks: [running('x', 'dev'), task('y', { phase: 'Succeeded' })],
      want: [
        'team/a is Ready: its agent is ready, 1 of 2 tasks are done',
        '  task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3',
      ],
    },
  ])('$want', ({ tasks, want }) => {
    expect(why(readyTeam('a'), [ready('dev'), ...tasks])).toEqual(want);
  });

  it('has a task that cannot go on', () => {
    const others = [ready('dev'), running('y', 'dev'), waitingTask('x', 'Blocked', 'DependencyNotFound', '', { dependsOn: ['none'] })];
    expect(ask(readyTeam('a'), others)).toMatchObject({ state: 'stuck', steps: [{ object: 'team/a' }, { object: 'task/a-x' }] });
  });
});
