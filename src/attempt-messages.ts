/** An attempt in the words of the protocol, and what a guest says of it in the words of the Task. Pure. */
import type { Task } from '#api/types.ts';
import type { Outcome } from '#controllers/task/attempts.ts';
import { headAndTail } from '#lib/text.ts';
import type { TaskResult } from '#protocol/control.ts';
import type { TaskAssignment } from '#protocol/relay.ts';

/** Of each stream, in the Task: a status is something to read, and every version of it goes through the journal. */
const KEPT_BYTES = 64 * 1024;

export function toAssignment({ metadata, spec, status }: Task): TaskAssignment {
  return {
    taskUid: metadata.uid,
    taskName: metadata.name,
    attempt: status?.attempt ?? 0,
    fencingToken: status?.fencingToken ?? 0,
    command: spec.command ?? '',
    timeoutMs: spec.timeoutSeconds * 1_000,
    workdir: spec.workdir,
    // So that a script can tell its attempts apart.
    env: { ...spec.env, AGENTISO_TASK: metadata.name, AGENTISO_ATTEMPT: String(status?.attempt ?? 0) },
  };
}

export function toOutcome(agentUid: string, reported: TaskResult): Outcome {
  const { taskUid, attempt, fencingToken, isLost, exitCode, timedOut, elapsedMs, sourceMessageId } = reported;
  const outcome = { agentUid, taskUid, attempt, fencingToken };
  if (isLost) return outcome;
  const stdout = headAndTail(reported.stdout, KEPT_BYTES);
  const stderr = headAndTail(reported.stderr, KEPT_BYTES);
  const result = {
    exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.isCut || stderr.isCut || reported.stdoutTruncated || reported.stderrTruncated,
    elapsedSeconds: Math.round(elapsedMs) / 1_000,
    ...(sourceMessageId !== undefined && { sourceMessageId }),
  };
  return { ...outcome, result, timedOut };
}
