/** What people say about a task: `retry`, `cancel`, `assign`, `approve`, `refuse`. Each is one change that is seen in the Task itself. */

import { shortName } from '#api/types.ts';
import { changeTask } from '#client/change-task.ts';
import { decidePlan } from '#client/messages.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { endedProblem, retryProblem, taskState } from '#client/task-state.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { findNamed, listAll, teamOf } from '../named.ts';
import { UsageError } from '../usage-error.ts';

export const retryCommand = apiCommand({
  name: 'retry',
  args: '<tasks...>',
  summary: 'try tasks that have failed once more',
  description:
    'Starts a task that has Failed anew, with all its attempts; what waits for it goes on when it succeeds. TASK is a name, task/NAME or TEAM/NAME.',
  run: (words, _options, session) =>
    each(words, session, async (task) => {
      const state = taskState(task);
      refuseIf(retryProblem(state), 'retry', task);
      await changeTask(session, task, { retry: state.retry + 1, ...(state.isCancelled ? { cancelled: false } : {}) });
      return 'is tried again';
    }),
});

export const cancelCommand = apiCommand({
  name: 'cancel',
  args: '<tasks...>',
  summary: 'give tasks up',
  description:
    'Gives a task up: a running attempt is killed, and the task ends as Failed with reason Cancelled. agentiso retry takes it back.',
  run: (words, _options, session) =>
    each(words, session, async (task) => {
      refuseIf(endedProblem(taskState(task)), 'cancel', task);
      await changeTask(session, task, { cancelled: true });
      return 'cancelled';
    }),
});

export const assignCommand = apiCommand({
  name: 'assign',
  args: '<task> <agent>',
  summary: 'give a task to another agent or role',
  description:
    'Gives a task to an agent or a role of its team. If somebody else works on it, that attempt is stopped first; it does not count as a failure.',
  async run([word = '', to = ''], _options, session) {
    const task = await findNamed(session, 'task', word);
    refuseIf(endedProblem(taskState(task)), 'assign', task);
    const assignTo = await assigneeOf(session, teamOf(task), to);
    await changeTask(session, task, { assignTo });
    session.out(`task/${task.metadata.name} is for ${assignTo}\n`);
    return EXIT.ok;
  },
});

export const approveCommand = apiCommand({
  name: 'approve',
  args: '<task>',
  summary: 'approve the plan of a task',
  description: 'Approves the plan that an agent has submitted for a task; the work starts. agentiso inbox shows plans that wait for you.',
  options: [{ flags: '--feedback <text>', description: 'a word for the agent' }],
  run: ([word = ''], options, session) => decide(session, word, { approved: true, feedback: text(options['feedback']) }),
});

export const refuseCommand = apiCommand({
  name: 'refuse',
  args: '<task>',
  summary: 'refuse the plan of a task and say why',
  description: 'Refuses the plan of a task; the agent gets the reason and submits another one. The third refusal ends the task as Failed.',
  options: [{ flags: '--feedback <text>', description: 'what should be different', isRequired: true }],
  run: ([word = ''], options, session) => decide(session, word, { approved: false, feedback: text(options['feedback']) }),
});

async function decide(session: Session, word: string, decision: { approved: boolean; feedback: string | undefined }): Promise<number> {
  if (decision.feedback?.trim() === '') throw new UsageError('--feedback is empty; say what should be different');
  const task = await findNamed(session, 'task', word);
  const { name = '' } = task.metadata;
  const { status } = await decidePlan(session, { namespace: session.namespace, team: teamOf(task), task: name, ...decision });
  session.out(`${DECIDED[status] ?? status}: the plan of task/${name}\n`);
  return EXIT.ok;
}

const DECIDED: Readonly<Record<string, string>> = {
  approved: 'approved',
  refused: 'refused',
  failed: 'refused for the last time, the task is Failed',
};

/** One line for each; those that cannot be are told, the others are done. */
async function each(words: readonly string[], session: Session, change: (task: ApiObject) => Promise<string>): Promise<number> {
  let code: number = EXIT.ok;
  for (const word of words) {
    try {
      const task = await findNamed(session, 'task', word);
      session.out(`task/${task.metadata.name} ${await change(task)}\n`);
    } catch (error) {
      if (words.length === 1 || !(error instanceof AgentisoError) || error instanceof UsageError) throw error;
      session.err(`error: ${error.message}\n`);
      code = EXIT.failure;
    }
  }
  return code;
}

function refuseIf(problem: string | undefined, verb: string, { metadata: { name } }: ApiObject): void {
  if (problem === undefined) return;
  throw new AgentisoError('Conflict', `cannot ${verb} task/${name}: ${problem}`, { hint: `agentiso why task/${name} says more` });
}

/** The short name, or that of a role; a Task that waits for nobody who exists would wait for ever. */
async function assigneeOf(session: Session, team: string, word: string): Promise<string> {
  const name = word.replace(/^agents?\//, '').replace(new RegExp(`^${team}/`), '');
  const members = (await listAll(session, 'agent')).filter((agent) => teamOf(agent) === team);
  const shorts = members.map((agent) => shortName(team, agent.metadata.name ?? ''));
  const roles = members.flatMap(({ spec }) => (isObject(spec) && typeof spec['roleName'] === 'string' ? spec['roleName'] : []));
  const short = shortName(team, name);
  if (shorts.includes(name) || roles.includes(name)) return name;
  if (shorts.includes(short)) return short;
  const known = [...new Set([...shorts, ...roles])];
  const meant = nearest(name, known);
  const there = known.length === 0 ? 'it has none' : `there is ${known.slice(0, MOST_NAMED).join(', ')}`;
  throw new NotFoundError(`team ${team} has no agent or role ${name}; ${meant ? `did you mean ${meant}?` : there}`);
}

const MOST_NAMED = 10;
