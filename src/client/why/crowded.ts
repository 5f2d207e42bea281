/** What runs on an agent that has as many processes as it may. Pure. */
import type { Agent } from '#api/types.ts';
import { type Finding, stuck } from './finding.ts';
import { conditionOf, wordsOf } from './words.ts';

/** Undefined: it has room. */
export function lookAtCrowded(agent: Agent | undefined, says: string): Finding | undefined {
  const condition = agent && conditionOf(agent, 'ProcessLimit');
  if (condition?.status !== 'True') return undefined;
  const [, limit] = /limit of (\d+) processes/.exec(condition.message) ?? [];
  return stuck(says, wordsOf(condition), { text: `${roomFor(limit, condition.reason === 'WorkspaceFull')}, or end some of them` });
}

/** How there is room again. The limit of a workspace is no field: it is the same for all. */
export function roomFor(limit: string | undefined, isOwn: boolean): string {
  return isOwn
    ? `let its tasks run fewer than ${limit} processes and threads at once`
    : `give the daemon room for more than ${limit} processes and threads (pids.max of its control group, TasksMax of its unit), or run fewer agents`;
}
