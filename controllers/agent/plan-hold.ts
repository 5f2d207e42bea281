/**
 * An agent that plans (a Task with planRequired) cannot write to its workspace before the plan is approved, where the driver can keep it from that and it
 * works on no other Task, which would need the same files: for one that comes meanwhile it is let go. The condition PlanHold says which it is; Tasks read
 * it, and none starts while it is marked. It is on disk before the workspace is held and goes after it was let go, so that none stays held for nothing.
 */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { isCode } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import type { AgentDeps, PlanPhase } from './deps.ts';
import { forgetCondition, SETTLE_MS } from './settled.ts';

export const PLAN_HOLD = 'PlanHold';

interface Holding {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
}

/** `now`: what this pass has decided must be on disk before the next. `soon`: there is another look. */
type Next = 'now' | 'soon' | undefined;

export async function ensurePlanHold(driver: Driver, agent: WithStatus<Agent>, { deps, ctx }: Holding): Promise<Next> {
  const plan = deps.planOf?.(agent);
  const mark = getCondition(agent, PLAN_HOLD);
  const why = plan && whyNot(driver, plan);
  if (plan && !why) return holdFor(plan.task, { driver, agent, ctx });
  if (mark !== undefined && mark.status !== 'False') await driver.writeHold?.release(agent.metadata.uid, ctx.signal);
  if (!plan || !why) {
    forgetCondition(agent, PLAN_HOLD);
    return undefined;
  }
  const message = `nothing keeps it from writing before the plan of task ${plan.task} is approved: ${why.message}`;
  setCondition(agent, { type: PLAN_HOLD, status: 'False', reason: why.reason, message }, ctx.now());
  return why.reason === SHARED ? 'soon' : undefined;
}

interface Held {
  readonly driver: Driver;
  readonly agent: WithStatus<Agent>;
  readonly ctx: ReconcileContext;
}

async function holdFor(task: string, { driver, agent, ctx }: Held): Promise<Next> {
  const mark = getCondition(agent, PLAN_HOLD);
  const what = `its workspace is read-only until the plan of task ${task} is approved`;
  const say = (status: 'True' | 'Unknown', reason: string, message = what) =>
    setCondition(agent, { type: PLAN_HOLD, status, reason, message }, ctx.now());
  if (mark === undefined || mark.status === 'False') {
    say('Unknown', 'Holding');
    return 'now';
  }
  // No Task starts from the mark on; one that was being started then shows by now.
  if (mark.status === 'Unknown' && ctx.now().getTime() - Date.parse(mark.lastTransitionTime) < SETTLE_MS) return 'soon';
  if (!(await isHeld(driver, agent, ctx))) {
    say('Unknown', 'FilesOpen', 'nothing keeps it from writing yet: a file of its workspace is open for writing');
    return 'soon';
  }
  if (mark.status !== 'True') ctx.events.normal(agent, PLAN_HOLD, what);
  say('True', 'PlanPhase');
  return undefined;
}

const SHARED = 'SharedWorkspace';

/** Pure. */
function whyNot({ name, writeHold }: Driver, { isShared }: PlanPhase): { readonly reason: string; readonly message: string } | undefined {
  if (writeHold === undefined) return { reason: 'Unsupported', message: `the ${name} driver cannot do that here` };
  return isShared ? { reason: SHARED, message: 'it works on another Task, in the same files' } : undefined;
}

/** False: somebody is writing at this moment. */
async function isHeld({ writeHold }: Driver, { metadata: { uid } }: Agent, { signal }: ReconcileContext): Promise<boolean> {
  try {
    await writeHold?.hold(uid, signal);
    return true;
  } catch (error) {
    if (isCode(error, 'Conflict')) return false;
    throw error;
  }
}
