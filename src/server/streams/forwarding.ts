/** What every form of port forwarding knows. */
import type { AgentIo, AgentReference } from '../agent-io.ts';

export interface Forwarding {
  readonly agentIo: AgentIo;
  readonly agent: AgentReference;
  readonly signal: AbortSignal;
}

export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
