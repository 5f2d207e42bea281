/** The golden snapshot of a team: prepared once, and kept like any other. What has failed is not tried again by itself: it would fail again. */
import type { Snapshot, Team } from '#api/types.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { ownedBy } from '#runtime/owner.ts';
import type { Prepared, SnapshotDeps } from './deps.ts';

interface Preparing {
  readonly deps: SnapshotDeps;
  readonly ctx: ReconcileContext;
}

export async function ensurePrepared(snapshot: WithStatus<Snapshot>, { deps, ctx }: Preparing): Promise<Result> {
  if (snapshot.status.phase === 'Failed') return {};
  const team = await teamOf(snapshot, deps);
  snapshot.status.observedGeneration = snapshot.metadata.generation;
  snapshot.status.phase = 'Pending';
  const prepared = await deps.goldens.prepare(snapshot, team);
  if (prepared?.state === 'failed') {
    snapshot.status.phase = 'Failed';
    const message = failureOf(prepared, snapshot.metadata.name);
    ctx.events.warning(team, 'GoldenFailed', message);
    throw new StalledError('GoldenFailed', message);
  }
  if (prepared === undefined) {
    const message = 'its workspace is made, and its commands run';
    setCondition(snapshot, { type: 'Ready', status: 'False', reason: 'Preparing', message }, ctx.now());
    return {};
  }
  const { bytes, driver } = prepared;
  snapshot.status = { ...snapshot.status, phase: 'Ready', bytes, driver, takenAt: ctx.now().toISOString() };
  setCondition(snapshot, { type: 'Ready', status: 'True', reason: 'Taken', message: '' }, ctx.now());
  ctx.events.normal(team, 'GoldenPrepared', `snapshot ${snapshot.metadata.name}: ${bytes} bytes`);
  return {};
}

/** What people read first: which command, how it ended, what it said last. Pure. */
export function failureOf({ command, exitCode, output }: Extract<Prepared, { state: 'failed' }>, name: string): string {
  const said = output.trim();
  const told = said === '' ? 'it said nothing' : `it said last: ${said}`;
  return `${command} ended with ${exitCode}; ${told}\nchange spec.golden of the Team, or delete snapshot ${name} to try again`;
}

async function teamOf(snapshot: WithStatus<Snapshot>, { client }: SnapshotDeps): Promise<Team> {
  const { namespace, name } = snapshot.metadata;
  const { team: called } = snapshot.spec;
  const team = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: called }));
  if (team && ownedBy(snapshot, team)) return team;
  snapshot.status.phase = 'Failed';
  throw new StalledError(
    'NotOfTeam',
    `team ${called} has not made snapshot ${name}; a Team makes its golden snapshot itself, delete this one`,
  );
}
