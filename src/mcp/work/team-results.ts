/** What the tasks of a team gave, cut for a look at all of them. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { count, integer, list, object, type Parsed, text } from '#protocol/shape.ts';
import { cutText } from './cut-text.ts';
import { given } from './given.ts';
import { resultFields } from './task-answer.ts';
import { isEnded, taskWord, whyOf, wordOf } from './task-word.ts';

const MAX_STDOUT_BYTES = 4_096;
const MAX_STDERR_BYTES = 2_048;

export const taskResult = object(
  { task_id: text, status: taskWord, stdout: text, stderr: text },
  {
    title: text,
    owner: text,
    attempt: count,
    exit_code: integer({ min: -1_000, max: 1_000_000 }),
    reason: text,
    message: text,
    duration_ms: count,
    finished_at: text,
    source_message_id: text,
    artifacts: list(object({ name: text }, { path: text, size_bytes: count })),
  },
);
export type TaskResult = Parsed<typeof taskResult>;

export interface ResultQuery {
  readonly limit: number;
  /** Only of this agent, by short name; of everybody when absent. */
  readonly agent?: string | undefined;
  /** Only those that ended after this time. */
  readonly since?: string | undefined;
}

/** The ones that ended last, oldest of them first. */
export function resultsOf(tasks: readonly Task[], { limit, agent, since = '' }: ResultQuery): TaskResult[] {
  const ended = tasks.filter((task) => isEnded(task) && isOf(task, agent) && timeOf(task) > timeIn(since));
  const sorted = ended.sort((a, b) => timeOf(a) - timeOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return sorted.slice(-limit).map(toResult);
}

/** How many are not finished: of the team, or in the hands of one agent. */
export function pendingCount(tasks: readonly Task[], agent?: string): number {
  return tasks.filter((task) => !isEnded(task) && isOf(task, agent)).length;
}

function isOf({ spec, status }: Task, agent: string | undefined): boolean {
  return agent === undefined || (status?.owner !== undefined && shortName(spec.team, status.owner) === shortName(spec.team, agent));
}

function timeOf({ status }: Task): number {
  return timeIn(status?.finishedAt ?? '');
}

function timeIn(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

function toResult(task: Task): TaskResult {
  const { metadata, spec, status = {} } = task;
  const { output = '', error = '', truncated: _, commit: __, ...rest } = resultFields(status.result ?? {});
  return {
    task_id: metadata.name,
    status: wordOf(task),
    stdout: cutText(output, MAX_STDOUT_BYTES),
    stderr: cutText(error, MAX_STDERR_BYTES),
    ...given({
      title: spec.title,
      owner: status.owner,
      attempt: status.attempt,
      reason: status.reason,
      message: status.phase === 'Failed' ? whyOf(task) : undefined,
      finished_at: status.finishedAt,
      ...rest,
    }),
  };
}
