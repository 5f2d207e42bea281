/** `assign_task`: a piece of work for an agent of a team, new or there already; with `wait` also what came of it. */
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import { described, flag, integer, list, map, object, type Parsed, text } from '#protocol/shape.ts';
import { label, plainText } from '../objects/fields.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { awaitObject } from '../work/await-object.ts';
import { deadlineMs, MAX_PROMPT_BYTES, namespace, namespaceOf, team, wait, waitMs, waitSeconds } from '../work/fields.ts';
import { given } from '../work/given.ts';
import { handOver } from '../work/hand-over.ts';
import { nextStep } from '../work/next-step.ts';
import { priority } from '../work/priority.ts';
import { taskAnswer, toTaskAnswer } from '../work/task-answer.ts';
import { createNumbered } from '../work/task-name.ts';
import { isEnded, progressOf } from '../work/task-word.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const input = object(
  { team },
  {
    namespace,
    task: described(
      label,
      'A task of the team that is there already, by short or full name: it is given to agent or role, and whoever works on it is stopped first. Without it a new task is written.',
    ),
    title: described(text, 'What it is about, in one line.'),
    agent: described(label, 'The agent that should do it, such as coder-1. Without agent and role any agent of the team may.'),
    role: described(label, 'Any agent of this role should do it.'),
    command: described(text, 'Shell command to run in the workspace of the agent; exit code 0 is success. Either this or prompt.'),
    prompt: described(
      plainText(MAX_PROMPT_BYTES),
      'What to do, in words, for an agent that thinks; at most 100 KiB. Either this or command.',
    ),
    name: described(label, 'Short name of the task. Default task-001, task-002, …'),
    description: described(text, 'What is to be done and why, for readers.'),
    depends_on: described(list(label, { max: 100 }), 'Tasks of the team that must have succeeded before.'),
    priority,
    env: described(map(text), 'Environment variables of the command. Not for secrets.'),
    workdir: described(text, 'Folder to run in, at or below /workspace.'),
    verify: described(list(text, { max: 64 }), 'Commands that must pass in a fresh workspace, or the task has not succeeded.'),
    task_timeout_seconds: described(
      integer({ min: 1, max: 1_800 }),
      'Longest time of one attempt; then it is killed. Default 300 for a command, 1800 for a prompt.',
    ),
    max_attempts: described(integer({ min: 1, max: 100 }), 'How often it is tried before it has failed. Default 3.'),
    plan_required: described(flag, 'The agent first submits a plan and starts only after approve_plan. Default false.'),
    wait,
    timeout_seconds: waitSeconds,
  },
);
type Asked = Parsed<typeof input>;

export const assignTask = defineTool({
  name: 'assign_task',
  title: 'Give work to a team',
  description:
    'Writes a task for a team, or gives one that is there (task) to another agent or role. A command is run by the agent, role or team it is for as soon as its dependencies have succeeded and the agent has a free place; a prompt goes to an agent with a coding backend, or waits until an agent claims it. Answers with task_id at once; with wait after the end, with output (standard output), error (standard error), exit_code and duration_ms. If timeout_seconds is over first: the status then, timed_out, and the task goes on; get_task_result shows it later. For several tasks that use each other use create_workflow.',
  category: 'default',
  isReadOnly: false,
  quotesOthers: true,
  input,
  output: taskAnswer,
  deadlineMs,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    const task = await (asked.task === undefined ? create(asked, call) : reassign(asked, asked.task, call));
    if (!asked.wait) return { ...toTaskAnswer(task), ...nextStep(task) };
    const { object: last, isTimedOut } = await awaitObject<Task>(call, task, {
      timeoutMs: waitMs(asked),
      isSettled: isEnded,
      say: progressOf,
    });
    return { ...toTaskAnswer(last), ...nextStep(last), ...(isTimedOut && { timed_out: true }) };
  },
});

/** What may be said of a task that is there already. */
const OF_THE_PRESENT: ReadonlySet<string> = new Set(['team', 'namespace', 'task', 'agent', 'role', 'wait', 'timeout_seconds']);

async function reassign({ agent, role, ...asked }: Asked, task: string, call: ToolCall): Promise<Task> {
  if (agent !== undefined && role !== undefined) throw wrongField('role', 'give an agent or a role, not both');
  const assignTo = agent ?? role;
  if (assignTo === undefined) throw wrongField('agent', 'say which agent or role should have the task');
  const other = Object.keys(given(asked)).find((field) => !OF_THE_PRESENT.has(field));
  if (other !== undefined) throw wrongField(other, 'a task that is there keeps what it says; apply changes it');
  return handOver(call, { ...asked, task }, assignTo);
}

async function create(asked: Asked, call: ToolCall): Promise<Task> {
  checkAsked(asked);
  const place = namespaceOf(asked);
  const key = { kind: 'Team', namespace: place, name: asked.team };
  const owner = await withHint(call.client.get<Team>(key), { NotFound: 'team_list shows the teams' });
  const draft = { apiVersion: API_VERSION, kind: 'Task' as const, metadata: { namespace: place }, spec: toSpec(asked) };
  const hints = { Invalid: 'team_status shows the agents and roles of the team', AlreadyExists: 'choose another name, or leave it out' };
  if (asked.name === undefined) return withHint(createNumbered(call, owner, draft as never), hints);
  const metadata = { ...draft.metadata, name: fullName(asked.team, asked.name) };
  return withHint(call.client.create<Task>({ ...draft, metadata } as unknown as Draft<Task>), hints);
}

function checkAsked({ agent, role, command, prompt, title }: Asked): void {
  if (title?.trim() === '') throw wrongField('title', 'say what it is about');
  if (agent !== undefined && role !== undefined) throw wrongField('role', 'give an agent or a role, not both');
  if ((command === undefined) === (prompt === undefined)) throw wrongField('command', 'give either a command or a prompt');
}

function fullName(teamName: string, name: string): string {
  return name.startsWith(`${teamName}-`) ? name : `${teamName}-${name}`;
}

function toSpec(asked: Asked): object {
  const { team: name, title, agent, role, command, prompt, description, env, workdir, verify } = asked;
  return {
    team: name,
    ...given({
      title,
      assignTo: agent ?? role,
      command,
      prompt,
      description,
      env,
      workdir,
      verify,
      dependsOn: asked.depends_on,
      priority: asked.priority,
      timeoutSeconds: asked.task_timeout_seconds,
      maxAttempts: asked.max_attempts,
      planRequired: asked.plan_required,
    }),
  };
}
