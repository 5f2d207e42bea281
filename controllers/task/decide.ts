/** What should happen to a Task that nobody holds, from what is known of its team. Pure; who claims by the book is judged by the same rules. */
import { whyUnaffordable } from '#api/agent-budget.ts';
import type { Agent, Task } from '#api/types.ts';
import { describeClash, FILES_IN_CONFLICT, filesToAvoid } from './avoiding.ts';
import { BACKOFF_REASONS, type Card, hasPlanTimedOut, isFinished, isPulledOnly, type Turn, turnOf, unsupportedFields } from './card.ts';
import type { Clash } from './clashes.ts';
import { deadlineOf } from './request.ts';
import { isReady, suits, takes } from './roster.ts';

export type Decision = Obstacle | Waiting | { readonly step: 'assign'; readonly agent: Agent };

/** Why nobody may have it now, whoever asks. */
export type Obstacle =
  | { readonly step: 'done' }
  | { readonly step: 'restart' }
  | { readonly step: 'fail'; readonly reason: string; readonly message: string }
  | { readonly step: 'block'; readonly reason: string; readonly blockedBy: readonly string[] }
  /** A person has to say how it goes on. */
  | { readonly step: 'hold' }
  | { readonly step: 'pause'; readonly delayMs: number };

type Waiting =
  | { readonly step: 'wait'; readonly reason: string; readonly message: string }
  /** Any agent that suits may claim it. */
  | { readonly step: 'open' };

/** What a decision needs to know of the team. */
export interface TeamView {
  readonly agents: Iterable<Agent>;
  find(name: string): Card | undefined;
  leadsIntoCircle(name: string): boolean;
  /** How many more the team may work on at once. */
  readonly room: number;
  free(agent: Agent): number;
  ahead(turn: Turn, agents: readonly Agent[]): number;
  clashOver(patterns: readonly string[]): Clash | undefined;
  isLastResort(turn: Turn): boolean;
}

export interface Circumstances {
  readonly now: Date;
  readonly canVerify: boolean;
  /** The agent that got nowhere with it: another one, if there is one. */
  readonly avoid?: string | undefined;
}

/** A failed attempt goes again after 1 s, doubling to 30 s. */
const MAX_BACKOFF_MS = 30_000;
/** A message is for people: of a large team it names a few. */
const MAX_NAMES = 5;

export function nextStep(task: Task, team: TeamView, given: Circumstances): Decision {
  return obstacleFor(task, team, given) ?? (isOpen(task, team) ? opening(task, team) : assignment(task, team, given));
}

export function obstacleFor(task: Task, team: TeamView, given: Circumstances): Obstacle | undefined {
  if (isFinished(task)) return { step: wantsRetry(task) ? 'restart' : 'done' };
  if (task.spec.cancelled) return { step: 'fail', reason: 'Cancelled', message: 'spec.cancelled is true' };
  const unsupported = unsupportedFields(task, given);
  if (unsupported.length > 0) {
    const message = `this version does not act on ${unsupported.join(', ')}; remove it to run the task`;
    return { step: 'fail', reason: 'NotSupportedYet', message };
  }
  if (hasPlanTimedOut(task)) return { step: wantsRetry(task) ? 'restart' : 'hold' };
  const delayMs = backoffLeftMs(task, given.now);
  if (delayMs > 0) return { step: 'pause', delayMs };
  return expired(task, given.now) ?? blocked(task, team);
}

/** Why this agent may not have it, in words; undefined: it may. */
export function whyNotFor(task: Task, agent: Agent, team: Pick<TeamView, 'free' | 'room'>): string | undefined {
  if (!suits(agent, task.spec)) return `it is for ${whomFor(task)}, not for ${agent.metadata.name}`;
  if (!isReady(agent)) return `agent ${agent.metadata.name} is not ready`;
  if (team.room === 0) return teamIsBusy(task);
  if (team.free(agent) === 0)
    return `agent ${agent.metadata.name} has its hands full (maxConcurrentTasks ${agent.spec.maxConcurrentTasks})`;
  return undefined;
}

/** Only one that has failed, or waits for a word on its plan. */
export function wantsRetry({ spec, status }: Task): boolean {
  return status?.phase !== 'Succeeded' && (spec.retry ?? 0) > (status?.retries ?? 0);
}

/** Only an attempt that counts as failed waits, and one whose provider has said until when; one that was interrupted goes on at once. */
function backoffLeftMs({ status }: Task, now: Date): number {
  if (status?.reason === 'RateLimited') return Date.parse(status.notBefore ?? '') - now.getTime() || 0;
  if (!BACKOFF_REASONS.has(status?.reason ?? '') || status?.finishedAt === undefined) return 0;
  const delayMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** ((status.failures ?? 1) - 1));
  return Date.parse(status.finishedAt) + delayMs - now.getTime();
}

function expired(task: Task, now: Date): Obstacle | undefined {
  const deadlineMs = deadlineOf(task);
  if (deadlineMs === undefined || now.getTime() < deadlineMs) return undefined;
  return { step: 'fail', reason: 'RequestExpired', message: `nobody has claimed it within ${task.spec.request?.timeoutSeconds} s` };
}

function blocked(task: Task, team: TeamView): Obstacle | undefined {
  const dependencies = (task.spec.dependsOn ?? []).map((name) => ({ name, found: team.find(name) }));
  const open = dependencies.filter(({ found }) => found?.face !== 'Succeeded');
  if (open.length === 0) return undefined;
  const blockedBy = open.map(({ name }) => name);
  if (open.some(({ found }) => found === undefined)) return { step: 'block', reason: 'DependencyNotFound', blockedBy };
  if (team.leadsIntoCircle(task.metadata.name)) return { step: 'block', reason: 'DependencyCycle', blockedBy };
  const isHopeless = open.some(({ found }) => found?.face === 'Hopeless');
  return { step: 'block', reason: isHopeless ? 'DependencyFailed' : 'DependenciesPending', blockedBy };
}

/** A prompt that nobody could be given waits for whoever wants it. */
function isOpen(task: Task, { agents }: TeamView): boolean {
  if (isPulledOnly(task)) return true;
  if (typeof task.spec.prompt !== 'string') return false;
  for (const agent of agents) if (takes(agent, task.spec)) return false;
  return true;
}

function opening(task: Task, { agents }: TeamView): Decision {
  for (const agent of agents) if (suits(agent, task.spec)) return { step: 'open' };
  return nobody(task);
}

function nobody(task: Task): Decision {
  const { team } = task.spec;
  const whom = whomFor(task);
  const message = whom === ANYBODY ? `team ${team} has no agents, or does not exist` : `team ${team} has no ${whom}`;
  return { step: 'wait', reason: 'NoAgent', message };
}

const ANYBODY = 'anybody';

function whomFor({ spec: { assignTo, skills = [], request } }: Task): string {
  const parts = [
    ...(assignTo === undefined ? [] : [`agent or role ${assignTo}`]),
    ...(skills.length === 0 ? [] : [`${assignTo === undefined ? 'agent ' : ''}with the skills ${skills.join(', ')}`]),
    ...(request === undefined ? [] : [`${assignTo === undefined && skills.length === 0 ? 'agent ' : ''}other than ${request.by}`]),
  ];
  return parts.length === 0 ? ANYBODY : parts.join(' ');
}

function assignment(task: Task, board: TeamView, { avoid }: Circumstances): Decision {
  const allowed = [...board.agents].filter((agent) => takes(agent, task.spec));
  if (allowed.length === 0) return nobody(task);
  const suitable = allowed.filter((agent) => whyUnaffordable(agent, task) === undefined);
  const [poor] = allowed;
  if (suitable.length === 0 && poor) return { step: 'wait', reason: 'BudgetExhausted', message: whyUnaffordable(poor, task) ?? '' };
  const ready = suitable.filter(isReady);
  if (ready.length === 0) return { step: 'wait', reason: 'AgentNotReady', message: `no suitable agent is ready: ${namesOf(suitable)}` };
  if (board.room === 0) return { step: 'wait', reason: 'TeamBusy', message: teamIsBusy(task) };
  const slots = ready.map((agent) => ({ agent, free: board.free(agent) })).filter(({ free }) => free > 0);
  const isAvoided = ({ agent }: { readonly agent: Agent }) => Number(agent.metadata.name === avoid);
  const [best] = slots.sort((a, b) => isAvoided(a) - isAvoided(b) || b.free - a.free);
  if (!best) return { step: 'wait', reason: 'AgentsBusy', message: `every suitable agent has its hands full: ${namesOf(ready)}` };
  const clash = board.clashOver(filesToAvoid(task));
  if (clash && !board.isLastResort(turnOf(task))) return { step: 'wait', reason: FILES_IN_CONFLICT, message: describeClash(clash) };
  const places = Math.min(
    board.room,
    slots.reduce((sum, { free }) => sum + free, 0),
  );
  if (board.ahead(turnOf(task), ready) < places) return { step: 'assign', agent: best.agent };
  // Without their names and number: the status of thousands would change with each task that starts.
  return { step: 'wait', reason: 'Queued', message: 'tasks that are more urgent or older go first' };
}

/** Without the number: whoever changes it does not change the status of thousands. */
function teamIsBusy({ spec }: Task): string {
  return `team ${spec.team} works on as many tasks at once as its spec.maxParallelTasks allows`;
}

function namesOf(agents: readonly Agent[]): string {
  const names = agents.slice(0, MAX_NAMES).map(({ metadata }) => metadata.name);
  const more = agents.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
