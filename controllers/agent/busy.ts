/** Whether an agent has a Task that an end of its run would cut short. */
import type { Agent } from '#api/types.ts';
import type { AgentDeps } from './deps.ts';

export function isBusy(agent: Agent, { sessions, pulledTasks, assignedTasks }: AgentDeps): boolean {
  const { heartbeat, isControlOpen = false } = sessions.get(agent.metadata.uid)?.state ?? {};
  const running = heartbeat?.runningTasks.length ?? 0;
  if (running + (pulledTasks?.(agent) ?? 0) > 0) return true;
  // What was assigned to a guest that cannot be reached does not run, as far as anybody knows.
  return isControlOpen && (assignedTasks?.(agent) ?? 0) > 0;
}
