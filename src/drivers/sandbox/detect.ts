/** Whether this machine can run sandboxes, and how: found out by starting one. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { type CgroupPlaces, findCgroupPlaces } from '../local/cgroup-places.ts';
import { TOOL_PATH } from './args.ts';
import { readHostLayout, thisNode } from './host-layout.ts';
import { prepareSandbox, type SandboxAbilities } from './sandbox.ts';
import { filterArchitecture, seccompProgram } from './seccomp.ts';

export interface SandboxSupport {
  readonly mode: 'root' | 'rootless' | 'unavailable';
  /** Why not, for people; empty when it works. */
  readonly reason: string;
  /** cgroup2, cgroup1 or prlimit. */
  readonly limits: string;
  /** nftables: a prepared network namespace can be entered. proxy-only: there is no right to prepare one. */
  readonly network: string;
  readonly abilities?: SandboxAbilities;
  readonly places?: CgroupPlaces;
}

/** The trial is made below `directory`, because not every file system takes an overlay. */
export async function detectSandbox(directory: string = tmpdir()): Promise<SandboxSupport> {
  const unavailable = (reason: string): SandboxSupport => ({ mode: 'unavailable', reason, limits: 'none', network: 'none' });
  const architecture = filterArchitecture(process.arch);
  if (process.platform !== 'linux' || architecture === undefined)
    return unavailable(`no sandbox for ${process.platform} on ${process.arch}`);
  const missing = await whyNotUsable('bwrap');
  if (missing !== undefined) return unavailable(missing);
  const mode = process.getuid?.() === 0 ? 'root' : 'rootless';
  const fixed = { mode, host: readHostLayout(), node: thisNode(), seccomp: seccompProgram(architecture) } as const;
  const problems: string[] = [];
  for (const variant of mode === 'root' ? VARIANTS : VARIANTS.filter(({ canOverlay }) => !canOverlay)) {
    const abilities = { ...fixed, ...variant };
    const problem = await tryStart(directory, abilities);
    if (problem === undefined) return supported(directory, abilities);
    problems.push(problem);
  }
  return unavailable(`a sandbox does not start: ${problems[0]}`);
}

/** The best comes first. */
const VARIANTS = [
  { canDisableUserns: true, canOverlay: true },
  { canDisableUserns: true, canOverlay: false },
  { canDisableUserns: false, canOverlay: true },
  { canDisableUserns: false, canOverlay: false },
];

function supported(directory: string, abilities: SandboxAbilities): SandboxSupport {
  const places = findCgroupPlaces(
    `agentiso-probe-${createHash('sha256').update(`${directory} ${process.pid}`).digest('hex').slice(0, 12)}`,
  );
  return {
    mode: abilities.mode,
    reason: '',
    limits: places === undefined ? 'prlimit' : `cgroup${places.version}`,
    network: abilities.mode === 'root' ? 'nftables' : 'proxy-only',
    abilities,
    ...(places && { places }),
  };
}

/** undefined: it ran. Else what it complained about. */
async function tryStart(directory: string, abilities: SandboxAbilities): Promise<string | undefined> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const trial = await mkdtemp(join(directory, '.sandbox-trial-'));
  try {
    mkdirSync(join(trial, 'base'));
    const folder = join(trial, 'folder');
    for (const path of [folder, join(folder, 'run'), join(folder, 'state')]) mkdirSync(path, { mode: 0o700 });
    const guestAgentPath = join(trial, 'guest.cjs');
    await writeFile(guestAgentPath, '');
    const { argv, seccompPath } = await prepareSandbox(
      {
        ...{
          id: 'trial',
          incarnation: 'trial',
          hostname: 'trial',
          mark: 'agentiso-trial',
          directory: folder,
          guestAgentPath,
          uid: TRIAL_UID,
        },
        ...{ egress: false, groups: [], resources: { vcpus: 1, memoryMiB: 64, diskGiB: 1 } },
        ...(abilities.canOverlay && { base: join(trial, 'base') }),
      },
      abilities,
    );
    return await runTrial([...argv.slice(0, argv.lastIndexOf('--') + 1), 'true'], seccompPath);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** The number of no team. */
const TRIAL_UID = 70_000;
const TRIAL_MS = 10_000;

async function runTrial([program = '', ...args]: readonly string[], seccompPath: string): Promise<string | undefined> {
  const seccomp = await open(seccompPath, 'r');
  try {
    const child = spawn(program, args, {
      env: { PATH: TOOL_PATH },
      stdio: ['ignore', 'ignore', 'pipe', seccomp.fd],
      timeout: TRIAL_MS,
      killSignal: 'SIGKILL',
      detached: true,
    });
    const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
    const [code, complaint] = await Promise.all([ended, child.stderr === null ? '' : text(child.stderr)]);
    return code === 0 ? undefined : complaint.trim() || `it ended with code ${code}`;
  } finally {
    await seccomp.close();
  }
}

/** A program that is there and cannot be used is as good as none; why is for people. */
async function whyNotUsable(program: string): Promise<string | undefined> {
  try {
    await execute(program, ['--version'], { env: { PATH: TOOL_PATH } });
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `bubblewrap is not installed: there is no ${program}`;
    return `${program} cannot be used: ${messageOf(error)}`;
  }
}
