/**
 * A prompt as a command of the task daemon: a runner, which is told by a file what to do and leaves another that says what came of it. So
 * everything that holds for commands holds for prompts: one start, time limits, logs, results that outlive the daemon.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#lib/make-folder.ts';
import { type PromptJob, type PromptOutcome, promptOutcome, type RunnerJob } from '#protocol/prompt.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { TaskAssignment } from '#protocol/relay.ts';
import type { Guest } from '../guest.ts';
import type { Artifacts } from '../tasks/artifacts.ts';
import { type UnreadMessage, unreadBlock } from './unread.ts';

/** The runner tells on it which process groups are its agent's. */
export const GROUPS_FD = 3;

export interface PromptCommand {
  readonly argv: readonly string[];
  /** Undefined: the runner did not come to its end. Can be asked once: what it has left is gone then. */
  takeOutcome(): PromptOutcome | undefined;
}

export interface PromptParts {
  readonly guest: Guest;
  readonly artifacts: Pick<Artifacts, 'transcriptPath'>;
  /** Of the agent, in their order. */
  readonly unseen: readonly UnreadMessage[];
}

export function promptCommand(assignment: TaskAssignment, prompt: PromptJob, { guest, artifacts, unseen }: PromptParts): PromptCommand {
  const { taskUid, taskName, attempt } = assignment;
  const { stateDir, programs, root, agentSocket } = guest;
  if (programs === undefined || !existsSync(programs.promptRunner))
    throw new ProtocolError('Unavailable', 'this workspace has no program that runs prompts');
  const folder = join(stateDir, 'prompts');
  const home = join(stateDir, 'homes', prompt.backend.replace(/[^a-z0-9-]/g, '_'));
  for (const path of [folder, home]) makeFolder(path);
  const file = (name: string) => join(folder, `${taskUid}-${name}`);
  const { text: unread, shown } = unreadBlock(unseen);
  const sessionFile = file('session');
  const lastSession = existsSync(sessionFile) ? readFileSync(sessionFile, 'utf8') : undefined;
  const job: RunnerJob = {
    ...prompt,
    ...{ taskName, attempt, unread, unreadIds: shown, workspace: root, home, socket: agentSocket, team: programs.team },
    node: process.execPath,
    transcript: artifacts.transcriptPath(assignment),
    outcome: file(`${attempt}.outcome.json`),
    sessionFile,
    groupsFd: GROUPS_FD,
    ...(lastSession !== undefined && { lastSession }),
  };
  const jobFile = file(`${attempt}.job.json`);
  rmSync(job.outcome, { force: true });
  writeFileSync(jobFile, JSON.stringify(job), { mode: 0o600 });
  return {
    argv: [process.execPath, programs.promptRunner, jobFile],
    takeOutcome: () => {
      const outcome = readOutcome(job.outcome);
      for (const path of [jobFile, job.outcome]) rmSync(path, { force: true });
      // A session is for the next attempt only when this one was cut off.
      if (outcome !== undefined && outcome.error?.code !== 'Cancelled') rmSync(sessionFile, { force: true });
      return outcome;
    },
  };
}

function readOutcome(path: string): PromptOutcome | undefined {
  try {
    return promptOutcome(JSON.parse(readFileSync(path, 'utf8')), 'outcome');
  } catch {
    return undefined;
  }
}
