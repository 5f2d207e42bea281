/**
 * Verifies merged commits: the `verify` commands run in a fresh workspace of the strongest isolation that the team has, without network,
 * filled from the team's repository. No agent is asked: a commit is the same everywhere.
 */
import { keyOf } from '#api/meta.ts';
import type { Merge, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { CommitVerification, CommitVerifier } from '#controllers/merge/deps.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { chooseDriver, type DriversHere } from '../agents/isolation.ts';
import { strongestOf } from '../agents/team-means.ts';
import { fillWithCommit } from './fill-commit.ts';
import { VerificationRuns } from './verification-runs.ts';
import { runVerifyCommands } from './verify-commands.ts';
import { type Guest, UnusableWork } from './verify-fill.ts';
import { ScratchRecords } from './verify-records.ts';

export interface CommitVerifierDeps {
  readonly home: string;
  readonly client: Pick<Client, 'get'>;
  readonly log: Logger;
  readonly here: DriversHere;
  /** The scratch runs as the user of the team. */
  readonly teamNumber: (team: Team) => number;
}

export interface OpenCommitVerifier extends CommitVerifier {
  /** Ends what runs; no scratch workspace is left when it resolves. */
  close(): Promise<void>;
}

/** Of all commands together. */
const COMMANDS_MS = 3_600_000;

/** Removes at once, in the background, what an earlier daemon has left. */
export function createCommitVerifier(deps: CommitVerifierDeps): OpenCommitVerifier {
  const records = new ScratchRecords(deps.home, 'merge-verifications');
  const runs = new VerificationRuns<CommitVerification>({ ...deps, drivers: deps.here.drivers, records });
  return {
    async verify(merge, commit, commands, repository) {
      const asked = { uid: merge.metadata.uid, key: keyOf(merge), version: JSON.stringify([commit, commands]) };
      return runs.ask(asked, (signal) => verifyCommit({ merge, commit, commands, repository, signal }));
    },
    forget: async (uid) => runs.forget(uid),
    wake: runs.wake,
    close: () => runs.close(),
  };

  async function verifyCommit(work: Work): Promise<CommitVerification> {
    const { merge, commit, signal } = work;
    const { namespace, uid } = merge.metadata;
    const team = await ignoreNotFound(deps.client.get<Team>({ kind: 'Team', namespace, name: merge.spec.team }));
    if (!team) throw new StalledError('TeamNotFound', `there is no team ${merge.spec.team}`);
    const agent = strongestOf(team);
    const plan = { driver: chooseDriver(agent, deps.here), team: deps.teamNumber(team), agent, about: { mergeUid: uid } };
    const ran = await runs.inScratch(plan, (guest) => verifyIn(guest, work), signal);
    return { commit, passed: ran.every(({ exitCode }) => exitCode === 0), commands: ran };
  }
}

interface Work {
  readonly merge: Merge;
  readonly commit: string;
  readonly commands: readonly string[];
  readonly repository: TeamRepository;
  readonly signal: AbortSignal;
}

async function verifyIn(guest: Guest, { merge, commit, commands, repository, signal }: Work): Promise<CommitVerification['commands']> {
  try {
    await fillWithCommit(guest, commit, repository, signal);
  } catch (error) {
    if (!(error instanceof UnusableWork)) throw error;
    return [{ command: commands[0] ?? '', exitCode: -1, output: `could not start: ${error.message}` }];
  }
  const env = { AGENTISO_MERGE: merge.metadata.name, AGENTISO_COMMIT: commit };
  return runVerifyCommands(guest, { commands, workdir: '/workspace', env, timeoutMs: COMMANDS_MS }, signal);
}
