/** An attempt in the words of the protocol, and what a guest says of it in the words of the Task. */
import { referencesOf, render } from '#api/task-template.ts';
import { timeoutSecondsOf } from '#api/task-timeout.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { CommandResult, Outcome, PromptEnd } from '#controllers/task/attempts.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { headAndTail } from '#lib/text.ts';
import { MAX_RESULT_TEXT_BYTES, type TaskResult } from '#protocol/control.ts';
import type { PromptOutcome } from '#protocol/prompt.ts';
import type { TaskAssignment } from '#protocol/relay.ts';
import type { KeptArtifact } from './artifacts.ts';
import { type PromptSources, toPromptJob } from './prompt-job.ts';

/** In place of a prompt, for a guest that was started by an older version and is still at work. */
const NO_PROMPTS = "echo 'this guest is too old for prompts: restart the agent' >&2; exit 78";

/** Rejects with AgentisoError: Invalid or TooLarge when what the spec refers to is not there or cannot be put in. */
export async function toAssignment(task: Task, agent: Agent, sources: PromptSources): Promise<TaskAssignment> {
  const { metadata, spec, status } = task;
  const { command = NO_PROMPTS, prompt, env } = await renderTask(task, sources.client);
  return {
    taskUid: metadata.uid,
    taskName: metadata.name,
    attempt: status?.attempt ?? 0,
    fencingToken: status?.fencingToken ?? 0,
    command,
    timeoutMs: timeoutSecondsOf(spec) * 1_000,
    workdir: spec.workdir,
    // So that a script can tell its attempts apart.
    env: { ...env, AGENTISO_TASK: metadata.name, AGENTISO_ATTEMPT: String(status?.attempt ?? 0) },
    ...(prompt !== undefined && { prompt: await toPromptJob(task, agent, prompt, sources) }),
  };
}

/** With the outputs of earlier Tasks in their places. Those are loaded only where the spec refers to some. */
export async function renderTask(task: Task, client: Pick<Client, 'get'>): Promise<ReturnType<typeof render>> {
  const { namespace } = task.metadata;
  const { team } = task.spec;
  const dependencies: Task[] = [];
  for (const written of new Set(referencesOf(task.spec).map((reference) => reference.task))) {
    // The full name first, as everywhere a Task is named.
    const names = [written, `${team}-${written}`];
    const found = await Promise.all(names.map((name) => ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name }))));
    const meant = found.find((one) => one?.spec.team === team);
    if (meant) dependencies.push(meant);
  }
  return render(task, dependencies);
}

/** `artifacts`: whole outputs that are on the host's disk by now. */
export function toOutcome(agentUid: string, reported: TaskResult, artifacts: readonly KeptArtifact[] = []): Outcome {
  const { taskUid, attempt, fencingToken, isLost, exitCode, timedOut, elapsedMs, sourceMessageId, commit } = reported;
  const outcome = { agentUid, taskUid, attempt, fencingToken };
  if (isLost) return outcome;
  const stdout = headAndTail(reported.stdout, MAX_RESULT_TEXT_BYTES);
  const stderr = headAndTail(reported.stderr, MAX_RESULT_TEXT_BYTES);
  const result = {
    exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.isCut || stderr.isCut || reported.stdoutTruncated || reported.stderrTruncated,
    elapsedSeconds: Math.round(elapsedMs) / 1_000,
    ...(commit !== undefined && { commit }),
    ...(sourceMessageId !== undefined && { sourceMessageId }),
    ...(artifacts.length > 0 && { artifacts }),
    ...(reported.outcome && toPromptResult(reported.outcome)),
  };
  return { ...outcome, result, timedOut, ...(reported.outcome && { prompt: toPromptEnd(reported.outcome) }) };
}

function toPromptResult({ stopReason, sessionId, evidence, usage }: PromptOutcome): Partial<CommandResult> {
  return {
    evidence,
    ...(stopReason !== undefined && { stopReason }),
    ...(sessionId !== undefined && { sessionId }),
    ...(usage && { usage }),
  };
}

function toPromptEnd({ error, retryAt, notes = [] }: PromptOutcome): PromptEnd {
  return { notes, ...(error && { error }), ...(retryAt !== undefined && { retryAt }) };
}
