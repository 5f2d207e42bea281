/** `agentiso rescue restore`: the bundle comes from the daemon, and the git of whoever asks takes it in. */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { getRescued, rescuedBundle } from '#client/rescue.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { environmentOf, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** Of a repository with many branches the newest tell enough. */
const MAX_HAVE = 50;
const RESTORED = 'refs/agentiso/restored';

export async function restoreRescued(id: string, options: OptionValues, session: Session): Promise<number> {
  const given = text(options['into']);
  if (given === undefined) throw new UsageError(`where to? agentiso rescue restore ${id} --into DIR`);
  const directory = resolve(environmentOf(session).cwd, given);
  const work = await getRescued(session, id);
  const isNew = await ensureRepository(directory);
  const branch = `rescue/${work.agent}`;
  if ((await git(directory, ['for-each-ref', `refs/heads/${branch}`])) !== '')
    throw new AgentisoError('AlreadyExists', `${given} has a branch ${branch} already`, {
      hint: `rename it first: git branch -m ${branch} NAME`,
    });
  const newest = ['--sort=-committerdate', `--count=${MAX_HAVE}`, '--format=%(objectname)', 'refs/heads', 'refs/remotes'];
  const have = (await git(directory, ['for-each-ref', ...newest])).split('\n').filter(Boolean);
  const temporary = await mkdtemp(join(tmpdir(), 'agentiso-rescue-'));
  try {
    const file = join(temporary, 'work.bundle');
    await pipeline(Readable.from(rescuedBundle(session, work.id, have)), createWriteStream(file, { mode: 0o600 }));
    await takeIn(directory, file, { commit: work.commit, branch });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  if (isNew) await git(directory, ['checkout', '--quiet', branch]);
  session.out(`the work of ${work.agent} is in ${given}, on the branch ${branch}\n`);
  return EXIT.ok;
}

/** True when it was made. */
async function ensureRepository(directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0) {
    await git(directory, ['rev-parse', '--git-dir']);
    return false;
  }
  await git(directory, ['init', '--quiet']);
  return true;
}

/** A repository that has it all gets an empty file. */
async function takeIn(
  directory: string,
  file: string,
  { commit, branch }: { readonly commit: string; readonly branch: string },
): Promise<void> {
  const refs = `+refs/agentiso/outgoing/*:${RESTORED}/*`;
  if ((await stat(file)).size > 0) await git(directory, ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', file, refs]);
  await git(directory, ['branch', '--no-track', branch, commit]);
  const left = (await git(directory, ['for-each-ref', '--format=%(refname)', RESTORED])).split('\n').filter(Boolean);
  for (const ref of left) await git(directory, ['update-ref', '-d', ref]);
}

async function git(directory: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', [...args], { cwd: directory, maxBuffer: 16 * 1024 * 1024 });
    return stdout.trim();
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new AgentisoError('IoError', `git ${args[0]} failed in ${directory}: ${stderr?.trim() || messageOf(error)}`, { cause: error });
  }
}
