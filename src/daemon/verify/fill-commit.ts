/** A commit of a repository on this machine, carried into a workspace with its history. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { spawnGit } from '#git/run.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { errnoOf } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { type Guest, run, UnusableWork } from './verify-fill.ts';
import { OutputTail } from './verify-output.ts';

const CARRY_MS = 600_000;
const TOLD_BYTES = 1_000;

/** As a pack of objects: a bundle needs a name that points to the commit, and cannot say where a shallow history ends. */
export async function fillWithCommit(guest: Guest, commit: string, { directory }: TeamRepository, signal: AbortSignal): Promise<void> {
  const format = commit.length === 64 ? ['--object-format=sha256'] : [];
  await run(guest, { argv: ['git', 'init', '-q', ...format, '.'] }, signal);
  await carry(guest, commit, directory, signal);
  const shallow = await readFile(join(directory, 'shallow'), 'utf8').catch(noneIfAbsent);
  if (shallow !== '') await run(guest, { command: 'printf %s "$SHALLOW" > .git/shallow', env: { SHALLOW: shallow } }, signal);
  await run(guest, { argv: ['git', '-c', 'advice.detachedHead=false', 'checkout', '-q', '--detach', commit] }, signal);
}

async function carry(guest: Guest, commit: string, directory: string, signal: AbortSignal): Promise<void> {
  const limited = AbortSignal.any([signal, timeLimit(CARRY_MS)]);
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
