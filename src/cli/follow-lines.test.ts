import { describe, expect, it } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { tellChange } from './follow-lines.ts';

const object = (kind: string, status?: JsonObject) => ({ kind, metadata: { name: 'x', generation: 1 }, spec: {}, status }) as unknown;
const task = (status?: JsonObject) => object('Task', status) as Task;
const agent = (status?: JsonObject) => object('Agent', status) as Agent;
const team = (status?: JsonObject) => object('Team', status) as Team;
const ready = (status: string, message: string, reason = 'R') => ({ conditions: [{ type: 'Ready', status, reason, message }] });

describe('tellChange', () => {
  it.each([
    { name: 'a task that says nothing', change: [undefined, task()], want: '' },
    {
      name: 'a task that waits',
      change: [undefined, task({ phase: 'Pending', reason: 'R', ...ready('False', 'no agent') })],
      want: 'task/x Pending: no agent\n',
    },
    {
      name: 'a task that begins',
      change: [task({ phase: 'Claimed' }), task({ phase: 'Running', owner: 'a-b' })],
      want: 'task/x Running on a-b\n',
    },
    {
      name: 'a task that goes on',
      change: [task({ phase: 'Running', owner: 'a' }), task({ phase: 'Running', owner: 'a', attempt: 1 })],
      want: '',
    },
    {
      name: 'a task that ends',
      change: [task({ phase: 'Running' }), task({ phase: 'Succeeded', result: { elapsedSeconds: 2 } })],
      want: 'task/x Succeeded in 2 s\n',
    },
    {
      name: 'a task that ended and is touched again',
      change: [task({ phase: 'Succeeded', result: { elapsedSeconds: 2 } }), task({ phase: 'Succeeded' })],
      want: '',
    },
    {
      name: 'an agent that starts',
      change: [undefined, agent({ phase: 'Starting', ...ready('False', 'waiting') })],
      want: 'agent/x Starting: waiting\n',
    },
    {
      name: 'an agent that goes the ordinary way',
      change: [
        agent({ phase: 'Starting', ...ready('False', 'waiting for the guest agent') }),
        agent({ phase: 'Starting', ...ready('False', 'not connected yet') }),
      ],
      want: '',
    },
    { name: 'an agent that works', change: [agent({ phase: 'Ready' }), agent({ phase: 'Working' })], want: '' },
    { name: 'a task that is about to begin', change: [task({ phase: 'Pending' }), task({ phase: 'Claimed' })], want: '' },
    {
      name: 'a task that waits for its plan',
      change: [
        task({ phase: 'Claimed' }),
        task({ phase: 'Claimed', reason: 'PlanNeeded', ...ready('False', 'the plan is not there yet') }),
      ],
      want: 'task/x Claimed: the plan is not there yet\n',
    },
    {
      name: 'a task in a circle',
      change: [undefined, task({ phase: 'Blocked', reason: 'DependencyCycle', ...ready('False', 'waits for b') })],
      want: 'task/x Blocked: waits for b: a dependency cycle, it can never start\n',
    },
    {
      name: 'an agent that is ready',
      change: [agent({ phase: 'Starting' }), agent({ phase: 'Ready', ...ready('True', 'up') })],
      want: 'agent/x Ready\n',
    },
    {
      name: 'a team that waits for its agents',
      change: [undefined, team({ phase: 'Creating', ...ready('False', '0 of 1', 'AgentsNotReady') })],
      want: '',
    },
    {
      name: 'a team that waits for a person',
      change: [undefined, team(ready('False', 'remove spec.golden', 'NotSupportedYet'))],
      want: 'team/x remove spec.golden\n',
    },
  ] as const)('$name', ({ change: [before, after], want }) => {
    expect(tellChange(before, after).line).toBe(want);
  });

  it('gives the output of a task once, when it ends, with a line end', () => {
    const ended = task({ phase: 'Succeeded', result: { elapsedSeconds: 2, stdout: 'hello', stderr: '' } });
    expect(tellChange(task({ phase: 'Running' }), ended).result).toEqual({ stdout: 'hello\n', stderr: '' });
    expect(tellChange(ended, ended).result).toBeUndefined();
  });

  it('says of what had ended before that it had', () => {
    const ended = task({ phase: 'Failed', reason: 'MaxAttempts', ...ready('False', 'attempt 3 of 3 exited with 7') });
    expect(tellChange(undefined, ended, true).line).toBe('task/x already Failed: attempt 3 of 3 exited with 7\n');
    expect(tellChange(undefined, agent({ phase: 'Ready' }), true).line).toBe('agent/x Ready\n');
  });
});
