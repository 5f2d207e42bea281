/**
 * Prepares golden snapshots: a scratch workspace of the team's own isolation, filled with its repository or with that of golden.gitUrl, the commands
 * of golden.setupCommands run in it, and what it then holds is kept. The scratch counts for no budget, as those of verifications do not, and two are
 * prepared at once at most.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyOf } from '#api/meta.ts';
import { effectivePolicy, lineageOf, mayPrepareOnline } from '#api/team-rules.ts';
import type { Agent, Snapshot, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Goldens, Prepared } from '#controllers/snapshot/deps.ts';
import type { Driver } from '#drivers/driver.ts';
import { uidOf } from '#drivers/local/team-uid.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import { messageOf, StalledError, WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Egress } from '#network/egress/create-egress.ts';
import { VerificationRuns } from '../verify/verification-runs.ts';
import { runCommand } from '../verify/verify-commands.ts';
import { type Guest, UnusableWork } from '../verify/verify-fill.ts';
import { ScratchRecords } from '../verify/verify-records.ts';
import { patiently } from '../verify/verify-scratch.ts';
import type { AgentGit } from './agent-git.ts';
import { cloneInto, forgetClone } from './golden-clone.ts';
import { chooseDriver, type DriversHere } from './isolation.ts';
import { largestOf, strongestOf } from './team-means.ts';

export interface GoldensDeps {
  readonly home: string;
  readonly client: Pick<Client, 'list'>;
  readonly log: Logger;
  readonly here: DriversHere;
  readonly egress: Pick<Egress, 'listen' | 'close'>;
  readonly repositories: TeamRepositories;
  readonly git: Pick<AgentGit, 'baseFor'>;
  /** The scratch runs as the user of the team. */
  readonly teamNumber: (team: Team) => Promise<number>;
}

export interface OpenGoldens extends Goldens {
  /** Ends what runs; no scratch workspace is left when it resolves. */
  close(): Promise<void>;
}

/** Of each command. */
const COMMAND_MS = 300_000;
/** What is wrong with a repository is mended outside, and nobody says when. */
const RETRY_MS = 5_000;
const STOP_POLL_MS = 50;
const WORDS = { work: 'preparation', interrupted: 'Preparing' };

/** Removes at once, in the background, what an earlier daemon has left. */
export function createGoldens(deps: GoldensDeps): OpenGoldens {
  const records = new ScratchRecords(deps.home, 'golden-preparations');
  const runs = new VerificationRuns<Prepared>({ ...deps, drivers: deps.here.drivers, records, words: WORDS });
  return {
    async prepare(snapshot, team) {
      const { uid } = snapshot.metadata;
      const asked = { uid, key: keyOf(snapshot), version: uid };
      return runs.ask(asked, (signal) => prepare({ snapshot, team, signal }, deps, runs));
    },
    async end({ metadata: { uid } }) {
      await runs.end(uid);
      await forgetClone(uid, deps.repositories);
    },
    wake: runs.wake,
    close: () => runs.close(),
  };
}

interface Work {
  readonly snapshot: Snapshot;
  readonly team: Team;
  readonly signal: AbortSignal;
}

async function prepare(work: Work, deps: GoldensDeps, runs: VerificationRuns<Prepared>): Promise<Prepared> {
  const { snapshot, team, signal } = work;
  const { uid } = snapshot.metadata;
  const { items } = await deps.client.list<Team>('Team', { namespace: team.metadata.namespace });
  const { ancestors } = lineageOf(team, (name) => items.find(({ metadata }) => metadata.name === name));
  const member = memberOf(team, ancestors);
  const driver = chooseDriver(member, deps.here);
  refuseUnequalDisks(team, driver);
  const agent = driver.name === 'vm' ? { ...member, spec: { ...member.spec, resources: largestOf(team) } } : member;
  const number = await deps.teamNumber(team);
  const owner = deps.here.sandbox.mode === 'root' ? uidOf(number) : undefined;
  // A process of this machine needs no way out.
  const isOnline = driver.name !== 'process' && mayPrepareOnline(team, ancestors);
  const base = await patiently(() => deps.git.baseFor(uid, team, driver.name === 'sandbox' ? owner : undefined), signal).catch(toWaiting);
  const plan = { driver, team: number, agent, hostname: 'golden', image: team.spec.golden?.image ?? 'base', egress: isOnline };
  const about = { snapshotUid: uid };
  return runs.inScratch(
    { ...plan, ...(base !== undefined && { base }), about },
    async (guest, id) => {
      if (isOnline) {
        const rules = { allowDomains: [], allowInternet: true };
        await deps.egress.listen(id, join(driver.runDirectory(id), 'egress.sock'), rules, owner === undefined ? {} : { uid: owner });
      }
      try {
        return (await setUp(guest, work, deps)) ?? (await keep(id, driver, { uid, signal }));
      } finally {
        await deps.egress.close(id);
      }
    },
    signal,
  );
}

/** As isolated as the team's agents are by now. */
function memberOf(team: Team, ancestors: readonly Team[]): Agent {
  const { minimum } = effectivePolicy(team, ancestors);
  return strongestOf({ ...team, spec: { ...team.spec, isolation: { ...team.spec.isolation, minimum } } });
}

/** A machine's disk is as large as it was made, and its copies are the disks of the members. */
function refuseUnequalDisks({ spec: { roles } }: Team, { name }: Driver): void {
  const sizes = new Set(roles.map(({ resources }) => resources.diskGiB));
  if (name !== 'vm' || sizes.size === 1) return;
  const message = `with the vm driver members share one golden disk; give all roles the same resources.diskGiB instead of ${[...sizes].join(', ')}`;
  throw new StalledError('GoldenUnsupported', message);
}

/** Undefined: everything has worked. */
async function setUp(guest: Guest, { snapshot, team, signal }: Work, deps: GoldensDeps): Promise<Prepared | undefined> {
  const { gitUrl, setupCommands = [] } = team.spec.golden ?? {};
  if (gitUrl != null) {
    const failed = await cloneInto(guest, gitUrl, { ...deps, snapshot, signal }).then(() => undefined, unusable(`git clone ${gitUrl}`));
    if (failed) return failed;
  }
  const plan = { workdir: '/workspace', env: { AGENTISO_TEAM: team.metadata.name }, timeoutMs: COMMAND_MS };
  const late = `timed out: each command has ${COMMAND_MS / 1_000} s`;
  for (const command of setupCommands) {
    const { exitCode, output } = await runCommand(guest, command, { ...plan, late }, signal);
    if (exitCode !== 0) return { state: 'failed', command, exitCode, output };
  }
  return undefined;
}

function unusable(command: string): (error: unknown) => Prepared {
  return (error) => {
    if (!(error instanceof UnusableWork)) throw toWaiting(error);
    return { state: 'failed', command, exitCode: -1, output: error.message };
  };
}

/** What does not run may take as long as it takes to be copied. */
async function keep(
  id: string,
  driver: Driver,
  { uid, signal }: { readonly uid: string; readonly signal: AbortSignal },
): Promise<Prepared> {
  if (driver.snapshots === undefined) throw new StalledError('SnapshotUnsupported', `the ${driver.name} driver takes no snapshots`);
  while (!(await driver.stop(id, signal))) await delay(STOP_POLL_MS, undefined, { signal });
  const { bytes } = await driver.snapshots.take(id, uid, signal);
  return { state: 'kept', bytes, driver: driver.name };
}

/** Nobody has to touch the Team for it. */
function toWaiting(error: unknown): never {
  throw error instanceof StalledError ? new WaitingError('GoldenFailed', messageOf(error), RETRY_MS) : error;
}
