/** What is true of an agent, from what was seen. Pure, but for writing into the status it is given. */
import type { Agent } from '#api/types.ts';
import type { WorkspaceState } from '#drivers/driver.ts';
import type { SessionState } from '#guest/sessions.ts';
import { AgentisoError, messageOf, StalledError, WaitingError } from '#lib/errors.ts';
import { type ConditionInput, getCondition, setCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';
import { describeFailure } from '#runtime/failure.ts';

type Phase = NonNullable<NonNullable<Agent['status']>['phase']>;

/** A heartbeat comes every 10 s; in the status it is a sign of life for people, and each write is a write to disk. */
const HEARTBEAT_SHOWN_MS = 60_000;
const RECONNECT_MS = 1_000;
/** Room comes when others end, and nobody says so to those that wait. */
const HELD_POLL_MS = 5_000;

export function workspaceCondition({ phase, failure }: WorkspaceState): ConditionInput {
  const type = 'WorkspaceReady';
  switch (phase) {
    case 'starting':
      return { type, status: 'False', reason: 'Starting', message: 'waiting for the guest agent' };
    case 'running':
      return { type, status: 'True', reason: 'Running', message: '' };
    case 'exited':
      return {
        type,
        status: 'False',
        reason: 'Exited',
        message: failure ?? 'the workspace exited and restartPolicy does not start it again',
      };
  }
}

/** What keeps the workspace from being started needs a person; gives back the error for throwing, which says the same of Ready. */
export function refused(agent: WithStatus<Agent>, error: unknown, now: Date): unknown {
  agent.status.phase = 'Failed';
  if (error instanceof StalledError) {
    setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason: error.reason, message: error.message }, now);
  }
  return error;
}

interface Hold {
  readonly reason: string;
  readonly message: string;
}

/** It may start later, without a change of its own: gives the error for throwing, which says the same of Ready. */
export function heldBack(agent: WithStatus<Agent>, { reason, message }: Hold, now: Date): WaitingError {
  agent.status.phase = 'Pending';
  setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason, message }, now);
  return new WaitingError(reason, message, HELD_POLL_MS);
}

/** Connected, and yet of no use to anybody; gives back the error for throwing, which says the same of Ready. */
export function unreachable(agent: WithStatus<Agent>, error: unknown, now: Date): unknown {
  const shown = isLostConnection(error) ? new WaitingError('RelayDisconnected', messageOf(error), RECONNECT_MS) : error;
  agent.status.phase = 'Starting';
  setCondition(agent, { type: 'RelayReady', status: 'False', ...describeFailure(shown) }, now);
  return shown;
}

/** The guest has ended, or the connection is made anew: either is seen soon, and neither is a failure of this pass. */
function isLostConnection(error: unknown): boolean {
  return error instanceof AgentisoError && error.code === 'Unavailable' && error.reason === 'Unavailable';
}

export function relayCondition(session: SessionState | undefined): ConditionInput {
  const type = 'RelayReady';
  if (session === undefined) return { type, status: 'False', reason: 'NotRunning', message: 'the workspace does not run' };
  const { isControlOpen, isRelayOpen, problem = '', error } = session;
  if (isControlOpen && isRelayOpen) return { type, status: 'True', reason: 'Connected', message: '' };
  if (error instanceof StalledError) return { type, status: 'False', reason: error.reason, message: problem };
  return { type, status: 'False', reason: 'RelayDisconnected', message: problem };
}

const PARTS = ['WorkspaceReady', 'NetworkReady', 'RelayReady'];

/** Ready is what the three parts make; the first that is not True gives its reason. */
export function readyCondition(agent: Agent): ConditionInput {
  const type = 'Ready';
  for (const part of PARTS) {
    const condition = getCondition(agent, part);
    if (condition?.status === 'True') continue;
    const { reason, message } = condition ?? { reason: 'Starting', message: `${part} has not been looked at yet` };
    return { type, status: 'False', reason, message };
  }
  return { type, status: 'True', reason: 'Running', message: '' };
}

export interface Seen {
  readonly workspace: WorkspaceState;
  readonly session: SessionState | undefined;
  /** How long there has been this session. */
  readonly sessionMs: number;
}

/** Phase, heartbeat and Ready, once the parts are known. */
export function summarise(agent: WithStatus<Agent>, { workspace, session, sessionMs }: Seen, now: Date): void {
  const ready = readyCondition(agent);
  setCondition(agent, ready, now);
  agent.status.phase = phaseOf(workspace, session, ready.status === 'True');
  if (session?.heartbeat === undefined) return;
  const shown = Date.parse(agent.status.lastHeartbeat ?? '');
  // A daemon that has just started hears of all its agents at once: that alone is no reason to write every one of them.
  const isDue = Number.isNaN(shown) || sessionMs >= HEARTBEAT_SHOWN_MS;
  if (isDue && !(now.getTime() - shown < HEARTBEAT_SHOWN_MS)) agent.status.lastHeartbeat = now.toISOString();
}

export function phaseOf({ phase, failure }: WorkspaceState, session: SessionState | undefined, isReady: boolean): Phase {
  if (phase === 'exited') return failure === undefined ? 'Stopped' : 'Failed';
  if (phase === 'starting' || !isReady) return 'Starting';
  return (session?.heartbeat?.runningTasks.length ?? 0) > 0 ? 'Working' : 'Ready';
}
