/** Asking an agent to stop: the wish is written into the Agent, with who wants it and why; its controller does the rest. */
import type { Agent } from '#api/types.ts';
import { isCode } from '#lib/errors.ts';
import type { Client } from './client.ts';

/** On an Agent: a StopRequest as JSON. Counts for the generation it names and for no other. */
export const STOP_REQUEST_ANNOTATION = 'agentiso.dev/stop-request';

export interface StopRequest {
  readonly from: string;
  readonly reason: string;
  /** Without a grace period: it is killed. */
  readonly isImmediate?: boolean;
}

const MAX_TRIES = 10;

/** The Agent as it was written. One that stops already is left to it, unless it is to be killed. */
export async function requestStop(client: Client, agent: Agent, request: StopRequest): Promise<Agent> {
  const { namespace, name } = agent.metadata;
  for (let tries = 1; ; tries++) {
    const now = await client.get<Agent>({ kind: 'Agent', namespace, name });
    const isStopping = now.spec.desiredState === 'Stopped';
    if (isStopping && request.isImmediate !== true) return now;
    const { generation, annotations } = now.metadata;
    const mark = JSON.stringify({ ...request, generation: isStopping ? generation : generation + 1 });
    try {
      return await client.update<Agent>({
        ...now,
        metadata: { ...now.metadata, annotations: { ...annotations, [STOP_REQUEST_ANNOTATION]: mark } },
        spec: { ...now.spec, desiredState: 'Stopped' },
      });
    } catch (error) {
      // Again with what is there by now: somebody else wrote in between.
      if (!isCode(error, 'Conflict') || tries === MAX_TRIES) throw error;
    }
  }
}
