/** The last look at what an agent has written: with nothing running any more that could write, and started for it if nothing runs. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import type { Sessions } from '#guest/sessions.ts';
import { newUid } from '#lib/clock.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { openWorkspace } from '../verify/verify-scratch.ts';
import { type SaveOutcome, saveWork } from './agent-work.ts';
import type { TeamBases } from './team-bases.ts';

export interface LastSavesDeps {
  readonly repositories: TeamRepositories;
  readonly repository: TeamRepository;
  readonly bases: TeamBases;
  readonly sessions: Sessions;
  readonly teamNumber: (agent: Agent) => Promise<number>;
  /** Whom the files of a team's workspaces belong to with this driver; undefined: to whom we are. */
  readonly ownerOf: (driver: Driver, team: number) => number | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const STOP_POLL_MS = 50;
/** Longer than a workspace takes to end however it resists. */
const STOP_MS = 30_000;

/** By driver: an agent that moved to another one has left files where it was. */
export async function lastSaves(agent: Agent, drivers: readonly Driver[], deps: LastSavesDeps): Promise<SaveOutcome[]> {
  const outcomes: SaveOutcome[] = [];
  for (const [index, driver] of drivers.entries()) outcomes.push(await lastSave(agent, driver, { ...deps, place: `${index}` }));
  return outcomes;
}

interface OnePlace extends LastSavesDeps {
  /** Tells what comes from different drivers apart. */
  readonly place: string;
}

async function lastSave(agent: Agent, driver: Driver, deps: OnePlace): Promise<SaveOutcome> {
  const { uid, name } = agent.metadata;
  const { sessions, repository, signal, log } = deps;
  const options = { withUncommitted: true, isFinal: true, rescueFrom: deps.place, signal };
  const session = sessions.get(uid);
  const state = await driver.get(uid, signal);
  requireMoving(state);
  if (session?.state.isControlOpen && state?.phase === 'running' && state.incarnation === session.incarnation) {
    try {
      return await saveWork(agent, session, repository, options);
    } catch (error) {
      signal.throwIfAborted();
      requireMoving(await driver.get(uid, signal));
      log.debug({ err: error, agent: name }, 'the guest did not hand over its work; it is started again for it');
    }
  }
  sessions.close(uid, 'its work is brought to safety');
  await ensureStopped(uid, driver, signal);
  const team = await deps.teamNumber(agent);
  const base = await knownBase(agent, driver, team, deps);
  const plan = { id: uid, incarnation: newUid(), hostname: 'rescue', driver, team, agent, ...(base !== undefined && { base }) };
  const guest = await openWorkspace(plan, signal);
  try {
    return await saveWork(agent, guest, repository, options);
  } finally {
    guest.close('its work is safe');
  }
}

/** What stands still by itself cannot be asked, and to end it would lose what is in its memory only: it is waited for. */
function requireMoving(state: WorkspaceState | undefined): void {
  if (state?.heldUp !== undefined) throw new AgentisoError('Unavailable', state.heldUp, { reason: 'HeldUp' });
}

/** After what was in it is safe. */
export async function removeWorkspace(uid: string, driver: Driver, signal: AbortSignal): Promise<void> {
  const until = performance.now() + STOP_MS;
  while ((await driver.get(uid, signal)) !== undefined) {
    if (performance.now() > until) throw new AgentisoError('Timeout', `what it left with the ${driver.name} driver does not go`);
    await driver.delete(uid, signal);
    await delay(1, undefined, { signal });
  }
}

async function ensureStopped(uid: string, driver: Driver, signal: AbortSignal): Promise<void> {
  const until = performance.now() + STOP_MS;
  while (!(await driver.stop(uid, signal))) {
    if (performance.now() > until) throw new AgentisoError('Timeout', 'what runs in its workspace does not end');
    await delay(STOP_POLL_MS, undefined, { signal });
  }
}

/** The layer of an agent's files fits the one it began on; whose files those are, the driver that has them knows. */
async function knownBase(agent: Agent, driver: Driver, team: number, deps: OnePlace): Promise<string | undefined> {
  const { uid } = agent.metadata;
  const note = await deps.bases.noteOf(uid);
  if (!note) return undefined;
  const repository = await deps.repositories.find(note.team);
  if (!repository) throw new AgentisoError('NotFound', 'the repository that its workspace started from is gone', { reason: 'BaseMissing' });
  return (await deps.bases.ensure(uid, repository, deps.ownerOf(driver, team)))?.directory;
}
