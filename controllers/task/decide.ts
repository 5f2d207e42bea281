/** What should happen to a Task that nobody holds, from what is known of its team. Pure. */
import type { Agent, Task } from '#api/types.ts';
import { BACKOFF_REASONS, type Card, isFinished, type Turn, turnOf, unsupportedFields } from './card.ts';
import { isReady, suits } from './roster.ts';

export type Decision =
  | { readonly step: 'done' }
  | { readonly step: 'fail'; readonly reason: string; readonly message: string }
  | { readonly step: 'block'; readonly reason: string; readonly blockedBy: readonly string[] }
  | { readonly step: 'wait'; readonly reason: string; readonly message: string }
  | { readonly step: 'pause'; readonly delayMs: number }
  | { readonly step: 'assign'; readonly agent: Agent };

/** What a decision needs to know of the team. */
export interface TeamView {
  readonly agents: Iterable<Agent>;
  find(name: string): Card | undefined;
  leadsIntoCircle(name: string): boolean;
  free(agent: Agent): number;
  ahead(turn: Turn, agents: readonly Agent[]): number;
}

/** A failed attempt goes again after 1 s, doubling to 30 s. */
const MAX_BACKOFF_MS = 30_000;
/** A message is for people: of a large team it names a few. */
const MAX_NAMES = 5;

export function nextStep(task: Task, team: TeamView, now: Date): Decision {
  if (isFinished(task)) return { step: 'done' };
  if (task.spec.cancelled) return { step: 'fail', reason: 'Cancelled', message: 'spec.cancelled is true' };
  const unsupported = unsupportedFields(task);
  if (unsupported.length > 0) {
    return {
      step: 'fail',
      reason: 'NotSupportedYet',
      message: `this version does not act on ${unsupported.join(', ')}; remove it to run the task`,
    };
  }
  const delayMs = backoffLeftMs(task, now);
  if (delayMs > 0) return { step: 'pause', delayMs };
  return blocked(task, team) ?? assignment(task, team);
}

/** Only an attempt that counts as failed waits; one that was interrupted goes on at once. */
function backoffLeftMs({ status }: Task, now: Date): number {
  if (!BACKOFF_REASONS.has(status?.reason ?? '') || status?.finishedAt === undefined) return 0;
  const delayMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** ((status.failures ?? 1) - 1));
  return Date.parse(status.finishedAt) + delayMs - now.getTime();
}

function blocked(task: Task, team: TeamView): Decision | undefined {
  const dependencies = (task.spec.dependsOn ?? []).map((name) => ({ name, found: team.find(name) }));
  const open = dependencies.filter(({ found }) => found?.face !== 'Succeeded');
  if (open.length === 0) return undefined;
  const blockedBy = open.map(({ name }) => name);
  if (open.some(({ found }) => found === undefined)) return { step: 'block', reason: 'DependencyNotFound', blockedBy };
  if (team.leadsIntoCircle(task.metadata.name)) return { step: 'block', reason: 'DependencyCycle', blockedBy };
  const isHopeless = open.some(({ found }) => found?.face === 'Hopeless');
  return { step: 'block', reason: isHopeless ? 'DependencyFailed' : 'DependenciesPending', blockedBy };
}

function assignment(task: Task, board: TeamView): Decision {
  const { assignTo, team } = task.spec;
  const suitable = [...board.agents].filter((agent) => suits(agent, assignTo));
  if (suitable.length === 0) {
    const message =
      assignTo === undefined ? `team ${team} has no agents, or does not exist` : `team ${team} has no agent or role ${assignTo}`;
    return { step: 'wait', reason: 'NoAgent', message };
  }
  const ready = suitable.filter(isReady);
  if (ready.length === 0) return { step: 'wait', reason: 'AgentNotReady', message: `no suitable agent is ready: ${namesOf(suitable)}` };
  const slots = ready.map((agent) => ({ agent, free: board.free(agent) })).filter(({ free }) => free > 0);
  const [best] = slots.sort((a, b) => b.free - a.free);
  if (!best) return { step: 'wait', reason: 'AgentsBusy', message: `every suitable agent has its hands full: ${namesOf(ready)}` };
  const places = slots.reduce((sum, { free }) => sum + free, 0);
  if (board.ahead(turnOf(task), ready) < places) return { step: 'assign', agent: best.agent };
  // Without their names and number: the status of thousands would change with each task that starts.
  return { step: 'wait', reason: 'Queued', message: 'tasks that are more urgent or older go first' };
}

function namesOf(agents: readonly Agent[]): string {
  const names = agents.slice(0, MAX_NAMES).map(({ metadata }) => metadata.name);
  const more = agents.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
