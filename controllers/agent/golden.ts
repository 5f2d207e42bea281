/** Members begin with the golden snapshot of their team; until it is there they wait, and say what for. */
import { beginsGolden } from '#api/golden.ts';
import { whoseSnapshot } from '#api/snapshots.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { getCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { heldBack } from './conditions.ts';
import { beginAs } from './copies.ts';
import type { AgentDeps, Golden } from './deps.ts';

interface Beginning {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
}

/** True: done by this pass, and only its status says so. */
export async function ensureGolden(driver: Driver, agent: WithStatus<Agent>, { deps, ctx }: Beginning): Promise<boolean> {
  const golden = beginsGolden(agent) ? await deps.goldenOf?.(agent) : undefined;
  if (golden === undefined) return false;
  const problem = goldenProblem(golden, agent.spec.team, driver);
  if (problem) {
    const { reason, message } = problem;
    const isNews = getCondition(agent, 'WorkspaceReady')?.message !== message;
    if (isNews) ctx.events[reason === PREPARING ? 'normal' : 'warning'](agent, reason, message);
    throw heldBack(agent, problem, ctx.now());
  }
  const { metadata, spec, status } = golden.snapshot as Snapshot;
  await beginAs(driver, agent, { deps, ctx, snapshot: metadata.uid });
  const { commit } = status ?? {};
  agent.status.source = {
    ...(spec.agent !== undefined && { agent: spec.agent }),
    snapshot: metadata.name,
    ...(commit !== undefined && { commit }),
  };
  ctx.events.normal(agent, 'StartedFromGolden', `it begins with snapshot ${metadata.name}`);
  return true;
}

const PREPARING = 'GoldenPreparing';

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Why its members cannot begin yet. Pure. */
export function goldenProblem({ from, name, snapshot }: Golden, team: string, driver: Driver): Problem | undefined {
  const what = `the golden snapshot of team ${team}`;
  if (snapshot) return whyNotReady(snapshot, what) ?? whyUnusable(snapshot, team, driver);
  return from === undefined
    ? { reason: PREPARING, message: `${what}, ${name}, is about to be prepared` }
    : { reason: 'SnapshotNotFound', message: `there is no snapshot ${name} of agent ${from}, which spec.golden of team ${team} names` };
}

function whyNotReady({ metadata: { name }, spec, status }: Snapshot, what: string): Problem | undefined {
  if (status?.phase === 'Ready') return undefined;
  const { reason: why = '', message: said = '' } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
  const message = `${what}, ${name}: ${said}`;
  const hasFailed = status?.phase === 'Failed' || why === 'GoldenFailed';
  if (spec.golden === undefined) return { reason: hasFailed ? 'SnapshotNotFound' : 'SnapshotPending', message };
  return { reason: hasFailed ? 'GoldenFailed' : PREPARING, message };
}

function whyUnusable(snapshot: Snapshot, team: string, driver: Driver): Problem | undefined {
  const { metadata, spec, status } = snapshot;
  const reason = 'SnapshotUnusable';
  if (driver.snapshots === undefined || status?.driver !== driver.name) {
    const again = spec.golden === undefined ? '' : '; delete it, and it is prepared anew';
    return { reason, message: `snapshot ${metadata.name} is of the ${status?.driver} driver, and the agent has ${driver.name}${again}` };
  }
  // Files that are a layer over another team's repository are of no use without it, and it goes with that team.
  if (spec.team === team || status.commit === undefined) return undefined;
  return { reason, message: `snapshot ${metadata.name} is ${whoseSnapshot(snapshot)}, and needs the repository of that team` };
}
