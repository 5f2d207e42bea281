/** What tools ask of running workspaces, asked over the agents' sessions. */
import type { Agent } from '#api/types.ts';
import type { Session } from '#guest/sessions.ts';
import { isCode, NotFoundError, UnavailableError } from '#lib/errors.ts';
import type { WorkspaceIo, WorkspaceReference } from '#mcp/workspace-io.ts';
import type { JobState } from '#protocol/control.ts';
import { type AgentIoDeps, connectedSession, listen } from '../agents/agent-io.ts';
import { runInWorkspace } from './workspace-io-exec.ts';
import { readFile, toWorkspaceFile, writeFile } from './workspace-io-files.ts';
import { keepNewest } from './workspace-io-log.ts';

export interface WorkspaceIoDeps extends AgentIoDeps {
  readonly agentOf: (workspace: WorkspaceReference) => Agent | undefined;
}

export function createWorkspaceIo(deps: WorkspaceIoDeps): WorkspaceIo {
  /** Whatever is asked: of the agent as it is now, and a guest that is lost meanwhile is said in the same words. */
  const ask = async <T>(workspace: WorkspaceReference, signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> => {
    const agent = deps.agentOf(workspace);
    if (!agent) throw noAgent(workspace);
    try {
      return await work(await connectedSession(agent.metadata, deps, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw isUnreached(error) ? unreached(agent, error) : error;
    }
  };
  return {
    exec: (workspace, command, options) =>
      ask(workspace, options.signal, (session) => {
        const ended = runInWorkspace(session, command, options);
        listen(ended, deps.onExec);
        return ended;
      }),
    startJob: (workspace, command, signal) => ask(workspace, signal, (session) => session.call('jobStart', command, { signal })),
    async pollJob(workspace, job, signal) {
      const { state, stdout, stderr, stdoutNext, stderrNext } = await ask(workspace, signal, (session) =>
        session.call('jobPoll', job, { signal }),
      );
      return { ...toJobState(state), stdout, stderr, stdoutOffset: stdoutNext, stderrOffset: stderrNext };
    },
    async killJob(workspace, { jobId, signalNumber }, signal) {
      const kill = { jobId, signal: String(signalNumber) };
      const { state } = await ask(workspace, signal, (session) => session.call('jobKill', kill, { signal }));
      return toJobState(state);
    },
    async setEnv(workspace, env, signal) {
      await ask(workspace, signal, (session) => session.call('setEnv', { env }, { signal }));
    },
    logs: (workspace, { maxBytes, ...query }, signal) =>
      ask(workspace, signal, async (session) => {
        const { result, down } = session.open('logs', { ...query, follow: false, timestamps: true }, { signal });
        const log = keepNewest(down.lines, maxBytes);
        // Why a log broke off is said by the result.
        log.catch(() => {});
        await result;
        return log;
      }),
    readFile: (workspace, file, signal) => ask(workspace, signal, (session) => readFile(session, file, signal)),
    writeFile: (workspace, file, signal) => ask(workspace, signal, (session) => writeFile(session, file, signal)),
    editFile: (workspace, edit, signal) => ask(workspace, signal, (session) => session.call('fileEdit', edit, { signal })),
    async listFiles(workspace, path, signal) {
      const { entries } = await ask(workspace, signal, (session) => session.call('fileList', { path }, { signal }));
      return entries.map(toWorkspaceFile);
    },
  };
}

function toJobState({ isRunning, exitCode }: JobState): { isRunning: boolean; exitCode?: number } {
  return { isRunning, ...(exitCode !== undefined && { exitCode }) };
}

function noAgent({ namespace, agent }: WorkspaceReference): NotFoundError {
  return new NotFoundError(`there is no agent ${agent} in namespace ${namespace}`, { hint: 'team_status lists the agents of a team' });
}

const UNREACHED = ['AgentUnavailable', 'AgentSuspended', 'GuestDisconnected'];

function isUnreached(error: unknown): boolean {
  return isCode(error, 'Unavailable') && UNREACHED.includes((error as UnavailableError).reason);
}

/** In words of its own: the reasons of connections name sockets of this machine. */
function unreached({ metadata: { name }, spec, status }: Agent, cause: unknown): UnavailableError {
  const phase = status?.phase ?? 'Pending';
  const why = ['Ready', 'Working'].includes(phase) ? 'its guest does not answer' : `it is ${phase}`;
  const hint =
    spec.desiredState === 'Running'
      ? 'get_agent_status says what it waits for; call again when it is Ready'
      : `its desiredState is ${spec.desiredState}: set it to Running with apply`;
  return new UnavailableError(`agent ${name} cannot be reached: ${why}`, { reason: 'AgentUnavailable', hint, cause });
}
