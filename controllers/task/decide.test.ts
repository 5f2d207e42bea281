import { describe, expect, it } from 'vitest';
import { admission } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { newAgent, newTask } from '../../test/support/controllers.ts';
import { Board } from './board.ts';
import { cardOf, isFinished, isHeld } from './card.ts';
import { type Decision, nextStep } from './decide.ts';
import { REQUESTED_ANNOTATION } from './request.ts';

const FINALIZER = 'test/finalizer';
const NOW = new Date('2026-01-02T03:04:05Z');

function boardOf(agents: readonly Agent[], tasks: readonly Task[]): Board {
  const board = new Board('a');
  for (const each of agents) board.putAgent(each);
  for (const each of tasks) board.put(cardOf(each, FINALIZER));
  return board;
}

function task(name: string, spec: JsonObject = {}, status: JsonObject = {}): Task {
  const admitted = admission.admit(newTask(name, spec) as KindObject, undefined);
  return { ...admitted, metadata: { ...admitted.metadata, uid: name, finalizers: [FINALIZER] }, status } as Task;
}

function agent(name: string, spec: JsonObject = {}, isReady = true): Agent {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'X', message: '', lastTransitionTime: '' }];
  return {
    ...admission.admit(newAgent(name, spec) as KindObject, undefined),
    status: { phase: isReady ? 'Ready' : 'Starting', conditions },
  } as Agent;
}

function stoppedWithDaemon(ready: Agent): Agent {
  const stopped = { type: 'WorkspaceReady', status: 'False' as const, reason: 'DaemonStopped', message: '', lastTransitionTime: '' };
  return { ...ready, status: { ...ready.status, conditions: [...(ready.status?.conditions ?? []), stopped] } };
}

const shown = (decision: Decision): string => {
  switch (decision.step) {
    case 'done':
    case 'restart':
    case 'hold':
    case 'open':
      return decision.step;
    case 'assign':
      return `assign ${decision.agent.metadata.name}`;
    case 'block':
      return `block ${decision.reason} ${decision.blockedBy.join(',')}`;
    case 'pause':
      return `pause ${decision.delayMs}`;
    case 'fail':
    case 'wait':
      return `${decision.step} ${decision.reason}: ${decision.message}`;
  }
};

const planApproved = { type: 'PlanApproved', status: 'True', reason: 'Approved', message: '', lastTransitionTime: '' };

function requested(name: string, at: string, by = 'boss'): Task {
  const asked = task(name, { prompt: 'help', request: { by, timeoutSeconds: 30 } });
  const annotations = { [REQUESTED_ANNOTATION]: at };
  return { ...asked, metadata: { ...asked.metadata, annotations, creationTimestamp: `${at.slice(0, 19)}Z` } };
}

const WORKER = agent('a-worker', { roleName: 'worker' });
const OTHER = agent('a-other-1', { roleName: 'other' });
const done = (name: string) => task(name, {}, { phase: 'Succeeded' });
const held = (name: string, owner: string) => task(name, {}, { phase: 'Running', owner });

describe('nextStep', () => {
  it.each<{ name: string; it: Task; agents?: Agent[]; tasks?: Task[]; want: string }>([
    { name: 'a finished task is done', it: task('t', {}, { phase: 'Failed' }), want: 'done' },
    { name: 'a cancelled task fails', it: task('t', { cancelled: true }), want: 'fail Cancelled: spec.cancelled is true' },
    {
      name: 'fields that nobody acts on are refused by name',
      it: task('t', { verify: ['true'] }),
      want: 'fail NotSupportedYet: this version does not act on spec.verify; remove it to run the task',
    },
    { name: 'a prompt is open to whoever claims it', it: task('t', { prompt: 'do it' }), want: 'open' },
    {
      name: 'a prompt that nobody suits',
      it: task('t', { prompt: 'do it', skills: ['rust', 'sql'] }),
      want: 'wait NoAgent: team a has no agent with the skills rust, sql',
    },
    {
      name: 'a command that asks for skills goes to who has them all',
      it: task('t', { skills: ['rust', 'sql'] }),
      agents: [WORKER, agent('a-half', { skills: ['rust'] }), agent('a-able', { skills: ['sql', 'go', 'rust'] })],
      want: 'assign a-able',
    },
    {
      name: 'skills and an assignee that does not have them',
      it: task('t', { assignTo: 'worker', skills: ['rust'] }),
      agents: [WORKER, agent('a-able', { skills: ['rust'] })],
      want: 'wait NoAgent: team a has no agent or role worker with the skills rust',
    },
    { name: 'a request is never assigned', it: requested('t', NOW.toISOString()), want: 'open' },
    {
      name: 'a request of the only agent',
      it: requested('t', NOW.toISOString(), 'worker'),
      want: 'wait NoAgent: team a has no agent other than worker',
    },
    {
      name: 'a request whose time is over',
      it: requested('t', '2026-01-02T03:03:35.000Z'),
      want: 'fail RequestExpired: nobody has claimed it within 30 s',
    },
    { name: 'a request whose time is not over yet', it: requested('t', '2026-01-02T03:03:35.001Z'), want: 'open' },
    {
      name: 'a request that came back is open for its whole time again',
      it: {
        ...requested('t', '2026-01-02T03:00:00.000Z'),
        status: { phase: 'Pending', attempt: 1, reason: 'AgentGone', finishedAt: NOW.toISOString() },
      },
      want: 'open',
    },
    { name: 'a failed task that is to be tried again', it: task('t', { retry: 2 }, { phase: 'Failed', retries: 1 }), want: 'restart' },
    { name: 'a failed task that was tried again already', it: task('t', { retry: 1 }, { phase: 'Failed', retries: 1 }), want: 'done' },
    { name: 'a task that succeeded is not tried again', it: task('t', { retry: 1 }, { phase: 'Succeeded' }), want: 'done' },
    {
      name: 'a plan that came too late waits for a word',
      it: task('t', { planRequired: true }, { phase: 'Blocked', reason: 'PlanTimeout' }),
      want: 'hold',
    },
    {
      name: 'and goes on when it is approved after all',
      it: task('t', { planRequired: true }, { phase: 'Blocked', reason: 'PlanTimeout', conditions: [planApproved] }),
      want: 'assign a-worker',
    },
    {
      name: 'or when it is tried anew',
      it: task('t', { planRequired: true, retry: 1 }, { phase: 'Blocked', reason: 'PlanTimeout' }),
      want: 'restart',
    },
    { name: 'a free task goes to any agent', it: task('t'), want: 'assign a-worker' },
    { name: 'a dependency by its short name', it: task('t', { dependsOn: ['x'] }), tasks: [done('a-x')], want: 'assign a-worker' },
    { name: 'a dependency by its full name', it: task('t', { dependsOn: ['a-x'] }), tasks: [done('a-x')], want: 'assign a-worker' },
    {
      name: 'open dependencies, all of them',
      it: task('t', { dependsOn: ['x', 'y', 'z'] }),
      tasks: [done('a-x'), task('a-y'), held('a-z', 'a-worker')],
      want: 'block DependenciesPending y,z',
    },
    { name: 'a dependency that does not exist', it: task('t', { dependsOn: ['gone'] }), want: 'block DependencyNotFound gone' },
    {
      name: 'a dependency that failed',
      it: task('t', { dependsOn: ['x'] }),
      tasks: [task('a-x', {}, { phase: 'Failed' })],
      want: 'block DependencyFailed x',
    },
    {
      name: 'a dependency that waits for one that failed',
      it: task('t', { dependsOn: ['x'] }),
      tasks: [task('a-x', {}, { phase: 'Blocked', reason: 'DependencyFailed' })],
      want: 'block DependencyFailed x',
    },
    {
      name: 'a circle of dependencies',
      it: task('a-t', { dependsOn: ['x'] }),
      tasks: [task('a-x', { dependsOn: ['y'] }), task('a-y', { dependsOn: ['a-t'] })],
      want: 'block DependencyCycle x',
    },
    {
      name: 'a dependency that is in a circle',
      it: task('a-t', { dependsOn: ['x'] }),
      tasks: [task('a-x', { dependsOn: ['y'] }), task('a-y', { dependsOn: ['x'] })],
      want: 'block DependencyCycle x',
    },
    { name: 'a team without agents', it: task('t'), agents: [], want: 'wait NoAgent: team a has no agents, or does not exist' },
    {
      name: 'an assignee that does not exist',
      it: task('t', { assignTo: 'boss' }),
      want: 'wait NoAgent: team a has no agent or role boss',
    },
    { name: 'an assignee by role', it: task('t', { assignTo: 'other' }), agents: [WORKER, OTHER], want: 'assign a-other-1' },
    { name: 'an assignee by short name', it: task('t', { assignTo: 'other-1' }), agents: [WORKER, OTHER], want: 'assign a-other-1' },
    { name: 'an assignee by full name', it: task('t', { assignTo: 'a-other-1' }), agents: [WORKER, OTHER], want: 'assign a-other-1' },
    {
      name: 'agents that are not ready',
      it: task('t'),
      agents: [agent('a-x', {}, false)],
      want: 'wait AgentNotReady: no suitable agent is ready: a-x',
    },
    {
      name: 'of many agents only a few are named',
      it: task('t'),
      agents: Array.from({ length: 7 }, (_, index) => agent(`a-${index}`, {}, false)),
      want: 'wait AgentNotReady: no suitable agent is ready: a-0, a-1, a-2, a-3, a-4 and 2 more',
    },
    {
      name: 'an agent whose status is ready and which is being deleted',
      it: task('t'),
      agents: [{ ...WORKER, metadata: { ...WORKER.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } }],
      want: 'wait AgentNotReady: no suitable agent is ready: a-worker',
    },
    {
      name: 'an agent that was stopped with the daemon and has not been looked at since',
      it: task('t'),
      agents: [stoppedWithDaemon(WORKER)],
      want: 'wait AgentNotReady: no suitable agent is ready: a-worker',
    },
    {
      name: 'an attempt that failed waits out its back-off',
      it: task('t', {}, { phase: 'Pending', reason: 'AttemptFailed', failures: 2, finishedAt: '2026-01-02T03:04:04.500Z' }),
      want: 'pause 1500',
    },
    {
      name: 'a back-off that is over',
      it: task('t', {}, { phase: 'Pending', reason: 'LeaseExpired', failures: 1, finishedAt: '2026-01-02T03:04:04Z' }),
      want: 'assign a-worker',
    },
    {
      name: 'the least busy agent is chosen',
      it: task('t'),
      agents: [WORKER, OTHER],
      tasks: [held('h1', 'a-worker'), done('d'), task('q', {}, { phase: 'Succeeded', owner: 'a-other-1' })],
      want: 'assign a-other-1',
    },
    {
      name: 'one place and a task that is more urgent',
      it: task('t'),
      agents: [agent('a-x', { maxConcurrentTasks: 1 })],
      tasks: [task('urgent', { priority: 1 })],
      want: 'wait Queued: tasks that are more urgent or older go first',
    },
    {
      name: 'two places and a task that is more urgent',
      it: task('t'),
      agents: [agent('a-x', { maxConcurrentTasks: 2 })],
      tasks: [task('urgent', { priority: 1 })],
      want: 'assign a-x',
    },
    {
      name: 'a more urgent task that cannot start',
      it: task('t'),
      agents: [agent('a-x', { maxConcurrentTasks: 1 })],
      tasks: [task('urgent', { priority: 1, dependsOn: ['missing'] }), task('elsewhere', { priority: 1, assignTo: 'other' })],
      want: 'assign a-x',
    },
    {
      name: 'agents with their hands full',
      it: task('t'),
      agents: [agent('a-x', { maxConcurrentTasks: 1 })],
      tasks: [task('h', {}, { phase: 'Claimed', owner: 'a-x' })],
      want: 'wait AgentsBusy: every suitable agent has its hands full: a-x',
    },
  ])('$name', ({ it: subject, agents = [WORKER], tasks = [], want }) => {
    expect(shown(nextStep(subject, boardOf(agents, [subject, ...tasks]), { now: NOW, canVerify: false }))).toBe(want);
  });

  it('walks each task once, however many ways lead to it', () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      ['x', 'y'].map((side) => ({ name: `a-${side}${layer}`, dependsOn: layer === 0 ? [] : [`x${layer - 1}`, `y${layer - 1}`] })),
    );
    const tasks = layers.flat().map(({ name, dependsOn }) => task(name, { dependsOn }));
    const last = tasks.at(-1) as Task;
    expect(shown(nextStep(last, boardOf([WORKER], tasks), { now: NOW, canVerify: false }))).toBe('block DependenciesPending x38,y38');
  });

  it.each([
    [undefined, false, false],
    ['Pending', false, false],
    ['Blocked', false, false],
    ['Claimed', true, false],
    ['Running', true, false],
    ['Succeeded', false, true],
    ['Failed', false, true],
  ])('%s: held %s, finished %s', (phase, isItHeld, isItFinished) => {
    const subject = task('t', {}, phase ? { phase } : {});
    expect([isHeld(subject), isFinished(subject)]).toEqual([isItHeld, isItFinished]);
  });
});
