/**
 * Verifies attempts of Tasks: their `verify` commands run in a workspace that was made for nothing else, filled with what the agent has
 * committed.
 */
import { keyOf } from '#api/meta.ts';
import { timeoutSecondsOf } from '#api/task-timeout.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Verification, Verifier } from '#controllers/task/verifier.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Sessions } from '#guest/sessions.ts';
import { AgentisoError, messageOf, WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { renderTask } from '../attempts/attempt-messages.ts';
import { RETRY_MS, VerificationRuns } from './verification-runs.ts';
import { runVerifyCommands } from './verify-commands.ts';
import { fillWorkspace, UnusableWork } from './verify-fill.ts';
import { ScratchRecords } from './verify-records.ts';

export interface VerifierDeps {
  readonly home: string;
  readonly client: Pick<Client, 'get'>;
  readonly log: Logger;
  readonly drivers: readonly Driver[];
  /** Where an agent's workspace is; undefined when it has none. */
  readonly driverOf: (uid: string) => Driver | undefined;
  readonly placeOf: (agent: Agent, driver: Driver) => Promise<{ readonly team: number }>;
  readonly sessions: Pick<Sessions, 'get'>;
}

export interface OpenVerifier extends Verifier {
  /** Ends what runs; no scratch workspace is left when it resolves. */
  close(): Promise<void>;
}

const GIB = 1024 * 1024 * 1024;

/** Removes at once, in the background, what an earlier daemon has left. */
export function createVerifier(deps: VerifierDeps): OpenVerifier {
  const runs = new VerificationRuns<Verification>({ ...deps, records: new ScratchRecords(deps.home) });
  return {
    async verify(task, agent) {
      const attempt = task.status?.attempt ?? 0;
      const asked = { uid: task.metadata.uid, key: keyOf(task), version: String(attempt) };
      return runs.ask(asked, (signal) => verifyAttempt(task, agent, { attempt, signal }));
    },
    forget: async (taskUid) => runs.forget(taskUid),
    wake: runs.wake,
    close: () => runs.close(),
  };

  async function verifyAttempt(
    task: Task,
    agent: Agent,
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<Verification> {
    const driver = deps.driverOf(agent.metadata.uid);
    const from = deps.sessions.get(agent.metadata.uid);
    if (!driver || !from?.state.isControlOpen) {
      throw new WaitingError('AgentUnavailable', `agent ${agent.metadata.name} cannot be reached, so its work is not verified`, RETRY_MS);
    }
    const { team } = await deps.placeOf(agent, driver);
    const maxBytes = (agent.spec.resources?.diskGiB ?? 10) * GIB;
    const about = { taskUid: task.metadata.uid, attempt };
    return runs.inScratch({ driver, team, agent, about }, (to) => verifyIn({ task, attempt, from, to, maxBytes, signal }), signal);
  }

  async function verifyIn(work: Work): Promise<Verification> {
    const { task, attempt, from, to, maxBytes, signal } = work;
    const { spec, metadata, status } = task;
    const commit = status?.result?.commit;
    const about = { attempt, ...(commit !== undefined && { commit }) };
    const [first = ''] = spec.verify ?? [];
    try {
      const { env } = await renderTask(task, deps.client).catch(toUnusable);
      await fillWorkspace({ from, to, commit, maxBytes, signal });
      const plan = {
        commands: spec.verify ?? [],
        workdir: spec.workdir,
        env: { ...env, AGENTISO_TASK: metadata.name, AGENTISO_ATTEMPT: String(attempt) },
        timeoutMs: timeoutSecondsOf(spec) * 1_000,
      };
      const commands = await runVerifyCommands(to, plan, signal);
      return { ...about, passed: commands.every(({ exitCode }) => exitCode === 0), commands };
    } catch (error) {
      if (!(error instanceof UnusableWork)) throw error;
      return { ...about, passed: false, commands: [{ command: first, exitCode: -1, output: `could not start: ${error.message}` }] };
    }
  }
}

interface Work {
  readonly task: Task;
  readonly attempt: number;
  readonly from: Parameters<typeof fillWorkspace>[0]['from'];
  readonly to: Parameters<typeof fillWorkspace>[0]['to'];
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** What the Task refers to is gone since the attempt began: it does not come back. */
function toUnusable(error: unknown): never {
  throw error instanceof AgentisoError && (error.code === 'Invalid' || error.code === 'TooLarge')
    ? new UnusableWork(messageOf(error))
    : error;
}
