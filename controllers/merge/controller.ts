/**
 * Merge: brings the commits of agents into one branch. Owns every field of Merge.status but the approval. The target moves in one step, from
 * the value that was merged onto, and only when everything fits, is verified and approved; until then there is nothing to undo.
 */
import { type Agent, type Merge, shortName, type Team } from '#api/types.ts';
import { AgentisoError, StalledError, WaitingError } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Controller, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { joins } from './batch.ts';
import type { MergeDeps } from './deps.ts';
import { isDone, MERGE_FINALIZER } from './done.ts';
import { finalizeMerge } from './finalize.ts';
import { land } from './land.ts';
import { Neighbours } from './neighbours.ts';
import { Memory, type Pass } from './pass.ts';
import { prepare } from './prepare.ts';
import { isWaiting, lineBefore } from './queue.ts';
import { reconsider } from './reconsider.ts';
import { AT_ONCE, fail, forgetPlace, startOver, wait } from './status.ts';
import { targetOfMerge } from './target.ts';
import { repositoryOf, teamNamed } from './teams.ts';

/** Of one merge, from its turn to the commit that could land. */
const LIMIT_MS = 600_000;

export function mergeController(deps: MergeDeps): Controller<Merge> {
  const memory = new Memory();
  const neighbours = new Neighbours();
  return {
    name: 'merge',
    kind: 'Merge',
    finalizer: MERGE_FINALIZER,
    watches: [
      { kind: 'Merge', toKeys: (merge, type) => neighbours.concernedBy(merge as Merge, type === 'DELETED') },
      { kind: 'Agent', toKeys: (agent) => neighbours.filter((merge) => isOpenFor(merge, agent as Agent)) },
      { kind: 'Team', toKeys: ({ metadata }) => neighbours.filter((merge) => merge.spec.team === metadata.name && isWaiting(merge)) },
    ],
    wakes: [deps.mergeVerifier.wake],
    isAtRest: isDone,
    reconcile: (merge, ctx) => reconcileMerge(merge, { deps, memory, ctx }),
    async finalize(merge) {
      await finalizeMerge(merge, deps);
      memory.forget(merge.metadata.uid);
      return 'done';
    },
  };
}

interface Means {
  readonly deps: MergeDeps;
  readonly memory: Memory;
  readonly ctx: ReconcileContext;
}

async function reconcileMerge(merge: WithStatus<Merge>, means: Means): Promise<Result> {
  const { status, metadata, spec } = merge;
  if (status.phase === 'Merged') return {};
  if (status.observedGeneration !== metadata.generation) startOver(merge);
  status.observedGeneration = metadata.generation;
  const { deps, ctx } = means;
  const team = await teamNamed(deps.client, metadata.namespace, spec.team);
  if (!team || team.metadata.deletionTimestamp !== undefined) return waitForTeam(merge, team, ctx);
  const { items: all } = await deps.client.list<Merge>('Merge', {
    namespace: metadata.namespace,
    fieldSelector: `spec.team=${spec.team}`,
  });
  const limit = timeLimit(LIMIT_MS);
  const signal = AbortSignal.any([ctx.signal, limit]);
  try {
    const pass = { ...means, all, signal, repository: await repositoryOf(team, deps.repositories) };
    if (status.phase === 'Failed' || status.phase === 'Conflicted') return await reconsider(merge, pass);
    return await advance(merge, pass);
  } catch (error) {
    return giveUp(merge, error, { ctx, limit });
  }
}

function waitForTeam(merge: WithStatus<Merge>, team: Team | undefined, ctx: ReconcileContext): Result {
  if (merge.status.phase === 'Failed' || merge.status.phase === 'Conflicted') return {};
  merge.status.phase ??= 'Pending';
  const { team: name } = merge.spec;
  if (team) wait(merge, { reason: 'TeamTerminating', message: `a team ${name}; the one there is is being deleted` }, ctx);
  else wait(merge, { reason: 'TeamNotFound', message: `team ${name}, which does not exist` }, ctx);
  return {};
}

async function advance(merge: WithStatus<Merge>, pass: Pass): Promise<Result> {
  const { status } = merge;
  if (status.candidate !== undefined) return land(merge, { ...pass, target: await targetOfMerge(merge, pass) });
  const isRunning = ({ metadata: { uid } }: Merge) => pass.memory.gates.has(uid);
  const before = lineBefore(merge, pass.all);
  const onto = before.length === 0 ? undefined : joins(merge, pass.all, { isRunning });
  const isUnfit = onto !== undefined && pass.memory.unfit.get(merge.metadata.uid) === onto;
  if (before.length > 0 && (onto === undefined || isUnfit)) return queue(merge, before, pass);
  if (status.phase !== 'Merging' || status.startedAt === undefined) {
    // On disk before anything is made: the dates of commits come from it.
    Object.assign(status, { phase: 'Merging', startedAt: pass.ctx.now().toISOString() });
    forgetPlace(merge);
    return AT_ONCE;
  }
  return prepare(merge, { ...pass, onto, target: await targetOfMerge(merge, pass) });
}

function queue(merge: WithStatus<Merge>, before: readonly Merge[], { ctx }: Pass): Result {
  delete merge.status.startedAt;
  Object.assign(merge.status, { phase: 'Queued', position: before.length + 1 });
  const last = before.at(-1)?.metadata.name;
  wait(merge, { reason: 'Queued', message: `merge ${last}, which goes first` }, ctx);
  return {};
}

/** Nothing has moved as long as there is no candidate; after that only the next look can tell. */
function giveUp(merge: WithStatus<Merge>, error: unknown, { ctx, limit }: { ctx: ReconcileContext; limit: AbortSignal }): Result {
  if (ctx.signal.aborted || error instanceof WaitingError) throw error;
  if (error instanceof StalledError) return fail(merge, { reason: error.reason, message: error.message }, ctx);
  if (merge.status.candidate !== undefined || merge.status.phase !== 'Merging') throw error;
  const isLate = limit.aborted || (error instanceof AgentisoError && error.code === 'Timeout');
  if (isLate) return fail(merge, { reason: 'Timeout', message: `it took too long; the target is unchanged: ${messageFrom(error)}` }, ctx);
  const sinceMs = ctx.now().getTime() - Date.parse(merge.status.startedAt ?? '');
  if (sinceMs > LIMIT_MS) return fail(merge, { reason: 'MergeFailed', message: `it failed again and again: ${messageFrom(error)}` }, ctx);
  throw error;
}

function messageFrom(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One that ended badly may end well with what the agent has now. */
function isOpenFor({ metadata, spec, status }: Merge, agent: Agent): boolean {
  if (metadata.namespace !== agent.metadata.namespace || (status?.phase !== 'Conflicted' && status?.phase !== 'Failed')) return false;
  const names = [agent.metadata.name, shortName(spec.team, agent.metadata.name)];
  return spec.sources.some((source) => names.includes(source.agent) || names.includes(`${spec.team}-${source.agent}`));
}
