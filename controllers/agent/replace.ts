/**
 * A spec that asks for another image, other resources or another driver than the run has: another run follows on the same disk, where the driver
 * keeps it, once the agent holds no Task. Until then it gets no new ones, and the condition ReplacePending says so.
 */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { isBusy } from './busy.ts';
import type { AgentDeps } from './deps.ts';
import { forgetCondition, isSettled } from './settled.ts';

export const REPLACE_PENDING = 'ReplacePending';

interface Replacing {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
  /** Where the workspace has been so far. */
  readonly previous: Driver | undefined;
}

type StartedWith = Required<NonNullable<NonNullable<Agent['status']>['startedWith']>>;

/** What a run is started with. Pure. */
export function startOf({ spec: { image = 'base', resources } }: Agent): StartedWith {
  const { vcpus = 2, memoryMiB = 512, diskGiB = 10 } = resources ?? {};
  return { image, vcpus, memoryMiB, diskGiB };
}

/** `memoryMiB 512 instead of 256`, each on its own; empty: the run is as the spec asks. Of a run that nothing is known of nothing differs. Pure. */
export function whatDiffers(agent: Agent, driver: Driver, previous: Driver | undefined): string[] {
  const { startedWith, isolation } = agent.status ?? {};
  const wanted = startOf(agent);
  const fields = (['image', 'vcpus', 'memoryMiB', 'diskGiB'] as const).filter(
    (field) => startedWith?.[field] !== undefined && startedWith[field] !== wanted[field],
  );
  const differing = fields.map((field) => `${field} ${wanted[field]} instead of ${startedWith?.[field]}`);
  const hasMoved = isolation?.driver !== undefined && previous !== undefined && previous.name !== driver.name;
  return hasMoved ? [`the ${driver.name} driver instead of ${previous.name}`, ...differing] : differing;
}

/** The run has to end now; the next one is as the spec asks. */
export async function isReplaceDue(driver: Driver, agent: WithStatus<Agent>, { deps, ctx, previous }: Replacing): Promise<boolean> {
  const differing = whatDiffers(agent, driver, previous);
  const found = differing.length === 0 ? undefined : await (previous ?? driver).get(agent.metadata.uid, ctx.signal);
  if (!found || found.phase === 'exited') {
    forgetReplace(agent);
    return false;
  }
  const now = ctx.now();
  const what = `the spec asks for ${differing.join(', ')}`;
  const mark = getCondition(agent, REPLACE_PENDING);
  const isSettledNow = isSettled(agent, REPLACE_PENDING, now);
  const isHeld = isBusy(agent, deps);
  const message = isHeld ? `${what}; another run begins when it holds no Task` : `${what}; another run begins`;
  if (mark === undefined) ctx.events.normal(agent, REPLACE_PENDING, message);
  setCondition(agent, { type: REPLACE_PENDING, status: 'True', reason: isHeld ? 'TaskRunning' : 'Replacing', message }, now);
  return isSettledNow && !isHeld;
}

export function forgetReplace(agent: WithStatus<Agent>): void {
  forgetCondition(agent, REPLACE_PENDING);
}
