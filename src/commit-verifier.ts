/**
 * Verifies merged commits: the `verify` commands run in a fresh workspace of the strongest isolation that the team has, without network,
 * filled from the team's repository. No agent is asked: a commit is the same everywhere.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { keyOf } from '#api/meta.ts';
import type { Agent, Merge, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { CommitVerification, CommitVerifier } from '#controllers/merge/deps.ts';
import { spawnGit } from '#git/run.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { AgentisoError, ignoreNotFound, messageOf, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { errnoOf } from '#lib/process-identity.ts';
import { chooseDriver, type DriversHere } from './isolation.ts';
import { VerificationRuns } from './verification-runs.ts';
import { runVerifyCommands } from './verify-commands.ts';
import { type Guest, run, UnusableWork } from './verify-fill.ts';
import { OutputTail } from './verify-output.ts';
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
const CARRY_MS = 600_000;
const TOLD_BYTES = 1_000;

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

/** As isolated as its agents, with the means of the best equipped of them. */
function strongestOf({ spec: { isolation, roles } }: Team): Agent {
  const most = (of: 'vcpus' | 'memoryMiB' | 'diskGiB', least: number) =>
    Math.max(least, ...roles.map(({ resources }) => resources?.[of] ?? 0));
  const resources = { vcpus: most('vcpus', 2), memoryMiB: most('memoryMiB', 512), diskGiB: most('diskGiB', 10) };
  return { spec: { isolation, resources } } as unknown as Agent;
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

/** As a pack of objects: a bundle needs a name that points to the commit, and cannot say where a shallow history ends. */
async function fillWithCommit(guest: Guest, commit: string, { directory }: TeamRepository, signal: AbortSignal): Promise<void> {
  const format = commit.length === 64 ? ['--object-format=sha256'] : [];
  await run(guest, { argv: ['git', 'init', '-q', ...format, '.'] }, signal);
  await carry(guest, commit, directory, signal);
  const shallow = await readFile(join(directory, 'shallow'), 'utf8').catch(noneIfAbsent);
  if (shallow !== '') await run(guest, { command: 'printf %s "$SHALLOW" > .git/shallow', env: { SHALLOW: shallow } }, signal);
  await run(guest, { argv: ['git', '-c', 'advice.detachedHead=false', 'checkout', '-q', '--detach', commit] }, signal);
}

async function carry(guest: Guest, commit: string, directory: string, signal: AbortSignal): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(CARRY_MS)]);
  const pack = spawnGit(['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'], { directory, signal: limited });
  const packed = new Promise<number | null>((resolve, reject) => pack.once('close', resolve).once('error', reject));
  packed.catch(() => undefined);
  const complaint = new OutputTail(TOLD_BYTES);
  pack.stderr?.on('data', (chunk: Buffer) => complaint.add(chunk));
  pack.stdin?.on('error', () => undefined).end(`${commit}\n`);
  const argv = ['git', '--git-dir=.git', 'index-pack', '--stdin'];
  const unpack = guest.open('execStream', { execId: randomUUID(), argv, hasStdin: true, timeoutMs: CARRY_MS }, { signal: limited });
  const said = new OutputTail(TOLD_BYTES);
  const isRead = said.read(unpack.down.stderr);
  unpack.down.stdout.resume();
  const ended = unpack.result.then(
    ({ exitCode }) => ({ exitCode }),
    (error: unknown) => ({ error }),
  );
  if (!pack.stdout) throw new AgentisoError('Internal', 'git pack-objects has no output');
  const problem = await pipeline(pack.stdout, unpack.up.stdin).catch((error: unknown) => error ?? 'broken');
  const [how] = await Promise.all([ended, isRead]);
  signal.throwIfAborted();
  if ((await packed) !== 0) throw new UnusableWork(`git pack-objects failed: ${complaint.text.trim()}`);
  if ('error' in how) throw how.error;
  if (how.exitCode !== 0) throw new UnusableWork(`git index-pack ended with ${how.exitCode}: ${said.text.trim()}`);
  if (problem !== undefined) throw new AgentisoError('Unavailable', `the commits were not carried over: ${messageOf(problem)}`);
}

function noneIfAbsent(error: unknown): string {
  if (errnoOf(error) === 'ENOENT') return '';
  throw error;
}
