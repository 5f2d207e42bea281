/** An agent that is to stop, followed until its controller has taken that up or has done it. */
import type { Agent } from '#api/types.ts';
import { requestStop, type StopRequest } from '#client/stop-request.ts';
import type { ToolCall } from '../tool.ts';
import { discovery } from './find-kind.ts';
import { toTarget } from './target.ts';
import { waitObject } from './wait-object.ts';

export interface Stopping {
  readonly agent: Agent;
  readonly request: Omit<StopRequest, 'from'>;
  readonly timeoutMs: number;
  isDone(agent: Agent): boolean;
}

export interface Stopped {
  readonly agent: Agent;
  /** What was waited for did not happen in time. */
  readonly isTimedOut: boolean;
}

/** As agents know the one who runs them. */
const FROM = 'orchestrator';

export async function stopAgent(call: ToolCall, { agent, request, timeoutMs, isDone }: Stopping): Promise<Stopped> {
  const asked = await requestStop(call.client, agent, { from: FROM, ...request });
  const { uid, generation } = asked.metadata;
  const isSeen = (now: Agent) => (now.status?.observedGeneration ?? 0) >= generation && isDone(now);
  const { last, isTimedOut } = await waitObject(call, {
    target: toTarget(discovery().find('agents'), asked.metadata),
    timeoutMs,
    // Who is gone has stopped.
    isDone: (object) => object?.metadata.uid !== uid || isSeen(object as unknown as Agent),
    say: (object) => `agent ${object.metadata.name} is ${(object as unknown as Agent).status?.phase ?? 'new'}`,
  });
  return { agent: last?.metadata.uid === uid ? (last as unknown as Agent) : asked, isTimedOut };
}

export function hasStopped({ status }: Agent): boolean {
  return status?.phase === 'Stopped';
}
