/** Agents that are kept, held or on their way out: what the team writes on each, and when one goes. */
import type { KindObject } from '#api/meta.ts';
import { DRAINING_ANNOTATION, SUSPENDED_ANNOTATION } from '#api/team-rules.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { ReconcileContext } from '#runtime/controller.ts';

export interface Marks {
  readonly desiredState: Agent['spec']['desiredState'];
  readonly annotations: Readonly<Record<string, string>>;
}

/** Tells whether the agent was marked to go. */
export function isDraining({ metadata }: KindObject): boolean {
  return metadata.annotations?.[DRAINING_ANNOTATION] !== undefined;
}

/** What the team wants written on an agent: that it is to go, and that it rests while the team is suspended. Pure. */
export function marksOf(
  { metadata, spec }: Agent,
  { isSurplus, suspend, now }: { isSurplus: boolean; suspend: boolean; now: Date },
): Marks {
  const { [DRAINING_ANNOTATION]: since, [SUSPENDED_ANNOTATION]: former, ...annotations } = metadata.annotations ?? {};
  const draining = isSurplus ? { [DRAINING_ANNOTATION]: since ?? now.toISOString() } : {};
  if (suspend) {
    const isAwake = spec.desiredState === 'Running';
    // Who was stopped by a person before has no mark, and stays stopped afterwards.
    const suspended = isAwake || former !== undefined ? { [SUSPENDED_ANNOTATION]: 'Running' } : {};
    return { desiredState: isAwake ? 'Stopped' : spec.desiredState, annotations: { ...annotations, ...draining, ...suspended } };
  }
  return { desiredState: former === undefined ? spec.desiredState : 'Running', annotations: { ...annotations, ...draining } };
}

/** A busy agent has its team's grace period; an idle one goes as soon as it is known to get no more work. Pure. */
export function leavesInMs(agent: Agent, { isBusy, graceMs, now }: { isBusy: boolean; graceMs: number; now: Date }): number {
  const since = Date.parse(agent.metadata.annotations?.[DRAINING_ANNOTATION] ?? '');
  if (!isBusy) return 0;
  return Number.isNaN(since) ? graceMs : Math.max(0, since + graceMs - now.getTime());
}

export function isInWork({ status }: Task): boolean {
  return status?.phase === 'Claimed' || status?.phase === 'Running';
}

export interface Leaving {
  readonly surplus: readonly Agent[];
  readonly tasks: readonly Task[];
}

/** Lets go of what was marked before this pass: by then nobody hands it new work. Gives the time until the next one has to go. */
export async function letGo(client: Client, team: Team, { surplus, tasks }: Leaving, ctx: ReconcileContext): Promise<number | undefined> {
  if (surplus.length === 0) return undefined;
  const busy = new Set(tasks.filter(isInWork).map(({ status }) => status?.owner));
  const graceMs = team.spec.terminationGracePeriodSeconds * 1_000;
  let nextMs: number | undefined;
  for (const agent of surplus) {
    const { namespace, name, uid, deletionTimestamp } = agent.metadata;
    if (!isDraining(agent) || deletionTimestamp !== undefined) continue;
    const isBusy = busy.has(name);
    const leftMs = leavesInMs(agent, { isBusy, graceMs, now: ctx.now() });
    if (leftMs > 0) {
      nextMs = Math.min(nextMs ?? leftMs, leftMs);
      continue;
    }
    if (isBusy) ctx.events.warning(team, 'GracePeriodOver', `agent ${name} still works and is removed; its tasks are handed back`);
    await ignoreNotFound(client.delete({ kind: 'Agent', namespace, name }, { preconditions: { uid } }));
  }
  return nextMs;
}
