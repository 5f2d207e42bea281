import { describe, expect, it } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { boardKey, type Followed } from './follow-board.ts';
import { plainView } from './follow-plain.ts';

const made = (kind: string, name: string, spec: JsonObject, status: JsonObject) =>
  ({ kind, metadata: { namespace: 'default', name, uid: name, generation: 1 }, spec, status }) as unknown;
const waiting = (reason: string, message: string, assignTo = 'dev') =>
  made(
    'Task',
    'a-x',
    { team: 'a', assignTo },
    { phase: 'Pending', reason, conditions: [{ type: 'Ready', status: 'False', message }] },
  ) as Task;
const team = (members: readonly string[]) =>
  made('Team', 'a', {}, { observedGeneration: 1, members: members.map((name) => ({ name })) }) as Team;
const agent = (phase: string) => made('Agent', 'a-dev', { team: 'a', roleName: 'dev' }, { phase }) as Agent;

/** What is said, change by change. */
function told(...changes: readonly Followed[]) {
  let text = '';
  const view = plainView({ out: () => {}, err: (line) => (text += line), isOld: () => false });
  const board = new Map<string, Followed>();
  const lines = changes.map((after) => {
    text = '';
    const before = board.get(boardKey(after));
    board.set(boardKey(after), after);
    view.changed(board, { before, after });
    return text;
  });
  text = '';
  view.over(board, 1);
  return [...lines, text];
}

describe('plainView', () => {
  it('does not complain of agents that are still being made or started', () => {
    const lines = told(
      waiting('NoAgent', 'team a has no agents'),
      team(['a-dev']),
      agent('Starting'),
      waiting('AgentNotReady', 'no suitable agent is ready'),
      agent('Ready'),
      made('Task', 'a-x', { team: 'a' }, { phase: 'Running', owner: 'a-dev' }) as Task,
    );
    expect(lines).toEqual(['', '', 'agent/a-dev Starting\n', '', 'agent/a-dev Ready\n', 'task/a-x Running on a-dev\n', '']);
  });

  it('tells it as soon as it is more than that: nobody of the team can do it', () => {
    const lines = told(waiting('NoAgent', 'team a has no agent or role dve', 'dve'), team(['a-dev']), agent('Starting'));
    expect(lines.at(2)).toBe('agent/a-dev Starting\ntask/a-x Pending: team a has no agent or role dve\n');
  });

  it('tells it when the agent that could do it has failed', () => {
    const lines = told(team(['a-dev']), agent('Starting'), waiting('AgentNotReady', 'no suitable agent is ready'), agent('Failed'));
    expect(lines.slice(2)).toEqual(['', 'agent/a-dev Failed\ntask/a-x Pending: no suitable agent is ready\n', '']);
  });

  it('tells at the end what was held back all the time: there is no such team', () => {
    expect(told(waiting('NoAgent', 'team a does not exist'))).toEqual(['', 'task/a-x Pending: team a does not exist\n']);
  });
});
