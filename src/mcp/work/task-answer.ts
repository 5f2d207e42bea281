/** A Task with what came of it, as tools answer it. Pure. */
import type { Task } from '#api/types.ts';
import { count, flag, integer, list, object, type Parsed, text } from '#protocol/shape.ts';
import { given } from './given.ts';
import { taskWord, whyOf, wordOf } from './task-word.ts';

const artifact = object({ name: text }, { path: text, size_bytes: count });
const exitCode = integer({ min: -1_000, max: 1_000_000 });

/** What assign_task answers when it waits, and get_task_result always. */
export const taskAnswer = object(
  { task_id: text, team: text, status: taskWord },
  {
    title: text,
    /** One word and a sentence for why it waits or failed. */
    reason: text,
    message: text,
    owner: text,
    attempt: count,
    exit_code: exitCode,
    output: text,
    error: text,
    /** Only the beginning and the end of output or error are here. */
    truncated: flag,
    duration_ms: count,
    finished_at: text,
    commit: text,
    source_message_id: text,
    artifacts: list(artifact),
    plan: object({ text }, { round: count, feedback: text }),
    blocked_by: list(text),
    timed_out: flag,
    hint: text,
  },
);
export type TaskAnswer = Parsed<typeof taskAnswer>;

export function toTaskAnswer(task: Task): TaskAnswer {
  const { metadata, spec, status = {} } = task;
  const { result, plan } = status;
  return {
    task_id: metadata.name,
    team: spec.team,
    status: wordOf(task),
    ...given({
      title: spec.title,
      reason: status.reason,
      message: whyOf(task),
      owner: status.owner,
      attempt: status.attempt,
      finished_at: status.finishedAt,
      blocked_by: status.blockedBy?.length ? status.blockedBy : undefined,
      plan: plan?.text === undefined ? undefined : { text: plan.text, ...given({ round: plan.round, feedback: plan.feedback }) },
      ...(result && resultFields(result)),
    }),
  };
}

type Result = NonNullable<NonNullable<Task['status']>['result']>;

export function resultFields({ exitCode: code, stdout, stderr, truncated, elapsedSeconds, commit, sourceMessageId, artifacts }: Result) {
  return {
    exit_code: code,
    output: stdout ?? '',
    error: stderr ?? '',
    truncated,
    duration_ms: elapsedSeconds === undefined ? undefined : Math.round(elapsedSeconds * 1_000),
    commit,
    source_message_id: sourceMessageId,
    artifacts: artifacts?.map(({ name, path, sizeBytes }) => ({ name, ...given({ path, size_bytes: sizeBytes }) })),
  };
}
