/** The tools of agents at the daemon's `/mcp`: asked of the agent's own guest, as a program in its workspace would ask. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Agent } from '#api/types.ts';
import { AgentisoError, isCode, NotFoundError } from '#lib/errors.ts';
import type { AgentCaller, AgentCallOptions, AgentMode } from '#mcp/agent-mode.ts';
import { agentTools } from '#protocol/agent-tools.ts';
import { MAX_WAIT_SECONDS } from '#protocol/agent-verbs.ts';
import { toListed } from '#protocol/tool-surface.ts';
import { type AgentIoDeps, connectedSession } from './agent-io.ts';

/** Longer than the longest wait. */
const DEADLINE_MS = MAX_WAIT_SECONDS * 1_000 + 5_000;

export interface AgentModeDeps extends AgentIoDeps {
  /** By its short name in its team. */
  readonly agentOf: (caller: AgentCaller) => Agent | undefined;
}

export function createAgentMode(deps: AgentModeDeps): AgentMode {
  return {
    tools: agentTools.map(toListed),
    async call(caller, name, args, { reader, signal, progress }) {
      const agent = deps.agentOf(caller);
      if (!agent) throw new NotFoundError(`there is no agent ${caller.name} in team ${caller.team}`);
      const session = await connectedSession(agent.metadata, deps, signal);
      const { result, down } = session.open('callTool', { name, arguments: { ...args }, reader }, { signal, deadlineMs: DEADLINE_MS });
      tellProgress(down.progress, progress);
      return result.catch((error: unknown) => {
        throw isOlderGuest(error) ? tooOld(agent) : error;
      });
    },
  };
}

function tellProgress(lines: Readable, tell: AgentCallOptions['progress']): void {
  // Its end is told by the result.
  lines.on('error', () => {});
  createInterface({ input: lines })
    .on('line', (line) => tell(`${secondsIn(line)} s`))
    .on('error', () => {});
}

function secondsIn(line: string): number {
  const { elapsedSeconds = 0 } = JSON.parse(line) as { elapsedSeconds?: number };
  return elapsedSeconds;
}

/** A workspace that outlived the daemon it was made by may have the guest of an earlier version. */
function isOlderGuest(error: unknown): boolean {
  return isCode(error, 'Invalid') && error instanceof Error && error.message === 'unknown method callTool';
}

function tooOld({ metadata: { name } }: Agent): AgentisoError {
  return new AgentisoError('Unavailable', `the guest of agent ${name} is of an earlier version and has no tools`, {
    reason: 'GuestTooOld',
    hint: 'restart the agent so that it gets the guest of this version',
  });
}
