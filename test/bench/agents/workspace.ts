/** A workspace that begins as 5,000 files: made by the driver, by one overlay mount alone, and by git. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { uidOf } from '#drivers/local/team-uid.ts';
import { launchCommand, TOOL_PATH } from '#drivers/sandbox/args.ts';
import { ensureFolder } from '#drivers/sandbox/folder.ts';
import { BenchError, MissingToolError, type Operation } from '../harness/operation.ts';
import { type Random, shuffled } from '../harness/random.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { figuresOf, WHOLE_ROUND } from './figures.ts';
import { makeTree } from './files.ts';
import { detectMachine, type Machine } from './sandboxes.ts';

const FILES = 5_000;
const QUICK_FILES = 500;
const TURNS = 15;
const TEAM = 1;
const run = promisify(execFile);

export const workspace: Operation = {
  id: 'workspace',
  about:
    "what a base adds to a start: the time of the driver's own folder and launcher with a base less the same without one, both with `true` in place of bubblewrap; the reference is `unshare --mount mount -t overlay` of the same tree into folders made ahead; git makes the same files with `git worktree add`",
  rounds: { full: 20, quick: 3 },
  reference: WHOLE_ROUND,
  comparisons: [
    {
      label: 'workspace of 5,000 files, added by the base',
      unit: 'ms',
      ours: (of) => of('with base') - of('without base'),
      reference: { name: 'one overlay mount', value: (of) => of('mount') },
      goal: atMost(2),
    },
    {
      label: '- folder, launcher and base together',
      unit: 'ms',
      ours: (of) => of('with base'),
      reference: { name: 'one overlay mount', value: (of) => of('mount') },
    },
    {
      label: '- all of it against git worktree add',
      unit: 'ms',
      ours: (of) => of('with base'),
      reference: { name: 'git worktree add', value: (of) => of('git') },
      goal: atMost(0.03),
    },
  ],
  async open(context) {
    const machine = await detectMachine(context, 'an overlay of 5,000 files');
    if (!machine.abilities.canOverlay) throw new MissingToolError('the file system of the benchmarks takes no overlay');
    const base = makeTree(join(context.dir, 'base'), context.quick ? QUICK_FILES : FILES);
    const places = { dir: context.dir, base, machine };
    const git = await openGit(places);
    const steps = { 'with base': driverStep(places, base), 'without base': driverStep(places, undefined), mount: mountStep(places) };
    return [...figuresOf(Object.keys(steps), () => alternate(steps, context.random)), { name: 'git', run: () => timeStep(git) }];
  },
};

interface Places {
  readonly dir: string;
  readonly base: string;
  readonly machine: Machine;
}

interface Step {
  work(): Promise<unknown>;
  /** Not timed. */
  clear(): Promise<unknown>;
}

/** Closely interleaved: their difference is a few milliseconds, less than what a busy machine adds from one second to the next. */
async function alternate(steps: Readonly<Record<string, Step>>, random: Random): Promise<Record<string, number>> {
  const times = Object.keys(steps).map((name): [string, number[]] => [name, []]);
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [name, durations] of shuffled(times, random)) durations.push(await timeStep(steps[name] as Step));
  }
  return Object.fromEntries(times.map(([name, durations]) => [name, median(durations)]));
}

async function timeStep({ work, clear }: Step): Promise<number> {
  const before = performance.now();
  await work();
  const elapsed = performance.now() - before;
  await clear();
  return elapsed;
}

function driverStep({ dir, machine }: Places, base: string | undefined): Step {
  const directory = join(dir, 'workspace');
  const uid = uidOf(TEAM);
  const { seccomp, canOverlay } = machine.abilities;
  const plan = { directory, hostname: 'bench', guestAgentPath: '/dev/null', seccomp, canOverlay, uid };
  return {
    async work() {
      for (const path of [directory, join(directory, 'run'), join(directory, 'state')]) mkdirSync(path, { mode: 0o700 });
      const { files } = await ensureFolder(base === undefined ? plan : { ...plan, base });
      if ((files === 'merged') !== (base !== undefined)) throw new BenchError('the workspace is not a layer over its base');
      const overlay = files === 'merged' ? 'now' : 'none';
      await succeed(launchCommand({ command: ['true'], groups: [], limits: [], root: { uid, folder: directory, overlay } }));
    },
    clear: () => rm(directory, { recursive: true }),
  };
}

function mountStep({ dir, base }: Places): Step {
  const paths = { upper: join(dir, 'upper'), work: join(dir, 'work'), merged: join(dir, 'merged') };
  for (const path of Object.values(paths)) mkdirSync(path);
  const options = `lowerdir=${base},upperdir=${paths.upper},workdir=${paths.work}`;
  const argv = ['unshare', '--mount', '--', 'mount', '-i', '-t', 'overlay', 'overlay', '-o', options, paths.merged];
  return { work: () => succeed(argv), clear: async () => {} };
}

async function openGit({ dir, base }: Places): Promise<Step> {
  const git = (...args: string[]) => run('git', ['-C', base, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args]);
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'base');
  const tree = join(dir, 'worktree');
  return {
    work: () => git('worktree', 'add', '--quiet', '--detach', tree),
    clear: () => git('worktree', 'remove', '--force', tree),
  };
}

async function succeed([program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: TOOL_PATH } });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new BenchError(`${program} ended with ${code}`);
}
