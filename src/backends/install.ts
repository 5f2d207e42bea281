/**
 * Installs an agent into a tool directory: by npm, in a folder of its own that gets its name when it is whole and has been tried. Two at once
 * wait for each other. What was cut off is begun anew; what npm has downloaded by then is in its cache.
 */
import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { tryLock } from '#lib/native.ts';
import type { Backend } from './backend.ts';
import { findInstalled } from './installed.ts';
import { jsonFile } from './json-lines.ts';
import { folderOf, releaseOf } from './tool-places.ts';

export interface InstallOptions {
  readonly tools: string;
  /** Of npm and of the agent that is tried. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onWait?: () => void;
  /** The program npm. */
  readonly npm?: string;
}

const LOCK_POLL_MS = 200;
const TRIAL_MS = 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Where it is; `isNew` says whether it was not before. */
export async function installBackend(
  backend: Backend,
  options: InstallOptions,
): Promise<{ readonly folder: string; readonly isNew: boolean }> {
  const { tools } = options;
  const present = await findInstalled(tools, backend);
  if ('folder' in present) return { folder: present.folder, isNew: false };
  if (backend.packages.length === 0) throw new AgentisoError('Invalid', `${backend.name} cannot be installed: ${present.missing}`);
  await mkdir(tools, { recursive: true, mode: 0o755 });
  return withInstallLock(backend.name, options, async () => {
    const meanwhile = await findInstalled(tools, backend);
    if ('folder' in meanwhile) return { folder: meanwhile.folder, isNew: false };
    const draft = join(tools, `.installing-${backend.name}@${releaseOf(backend)}`);
    await rm(draft, { recursive: true, force: true });
    await makeDraft(draft, backend, options);
    await tryOut(draft, backend, options);
    await openToAll(draft);
    await rm(folderOf(tools, backend), { recursive: true, force: true });
    await rename(draft, folderOf(tools, backend));
    return { folder: folderOf(tools, backend), isNew: true };
  });
}

/** The kernel lets go of it when we end, however that is. */
export async function withInstallLock<T>(
  name: string,
  { tools, signal, onWait }: Pick<InstallOptions, 'tools' | 'signal' | 'onWait'>,
  work: () => Promise<T>,
): Promise<T> {
  const handle = await open(join(tools, `.${name}.lock`), 'a', 0o644);
  try {
    let isWaiting = false;
    while (!tryLock(handle.fd)) {
      if (!isWaiting) onWait?.();
      isWaiting = true;
      await pause(LOCK_POLL_MS, undefined, { signal });
    }
    return await work();
  } finally {
    await handle.close();
  }
}

/** Whatever the user's own settings say: without scripts and optional packages some agents lack their binary, and npm says nothing. */
const NPM_ARGUMENTS = [
  ...['install', '--no-audit', '--no-fund', '--loglevel=error', '--engine-strict=false'],
  ...['--ignore-scripts=false', '--include=optional', '--omit=dev', '--global=false'],
];

async function makeDraft(draft: string, { name, packages }: Backend, { environment, signal, npm = 'npm' }: InstallOptions): Promise<void> {
  await mkdir(draft, { mode: 0o755 });
  const dependencies = Object.fromEntries(packages.map((each) => [each.name, each.version]));
  await writeFile(join(draft, 'package.json'), jsonFile({ private: true, description: `${name} for agentiso`, dependencies }));
  try {
    await execute(npm, NPM_ARGUMENTS, { cwd: draft, env: environment, signal, maxOutputBytes: MAX_OUTPUT_BYTES });
  } catch (error) {
    throw new AgentisoError('Unavailable', `npm could not install ${name}: ${lastLines(error)}`, { reason: 'InstallFailed', cause: error });
  }
}

/** npm ends well with an older version, or without the binary. */
async function tryOut(draft: string, { name, packages, binaries }: Backend, { environment, signal }: InstallOptions): Promise<void> {
  const broken = (what: string, cause?: unknown) =>
    new AgentisoError('Unavailable', `npm installed ${name}, and it does not work: ${what}`, { reason: 'InstallFailed', cause });
  for (const each of packages) {
    const text = await readFile(join(draft, 'node_modules', each.name, 'package.json'), 'utf8').catch((error: unknown) => {
      throw broken(messageOf(error), error);
    });
    const { version } = JSON.parse(text) as { version: string };
    if (version !== each.version) throw broken(`${each.name} is ${version} and not ${each.version}`);
  }
  const [program = ''] = binaries.map((binary) => join(draft, 'node_modules', '.bin', binary));
  const home = join(draft, '.trial');
  await mkdir(home);
  try {
    const env = { PATH: environment['PATH'], HOME: home, TERM: 'dumb' };
    await execute(program, ['--version'], { cwd: home, env, signal, timeoutMs: TRIAL_MS });
  } catch (error) {
    throw broken(lastLines(error), error);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Agents have other user ids, and a umask may have closed it to them. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await openFile(path);
  }
}

async function openFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const { mode } = await handle.stat();
    const wanted = mode & 0o100 ? 0o755 : 0o644;
    if ((mode & 0o777) !== wanted) await handle.chmod(wanted);
  } finally {
    await handle.close();
  }
}

function lastLines(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  return stderr.trim().split('\n').slice(-5).join('\n') || messageOf(error);
}
