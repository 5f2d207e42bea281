/** `agentiso orchestrate`: a plan of tasks run to its end, with results as files for whoever comes after. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import type { KindObject } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import { systemClock } from '#lib/clock.ts';
import { messageOf } from '#lib/errors.ts';
import { text } from '../api-command.ts';
import { type Command, EXIT } from '../command.ts';
import { planText } from '../up/plan.ts';
import { writeResults } from '../up/results.ts';
import { type Afterwards, manifestsOf, RUN_OPTIONS, runManifests } from '../up/run.ts';
import { UsageError } from '../usage-error.ts';

export const orchestrateCommand: Command = {
  name: 'orchestrate',
  summary: 'run a plan of tasks and write its results to a folder',
  description:
    'Does what up does, and then writes what became of the tasks: summary.json, and for each task a folder with stdout.txt, stderr.txt (both whole) and meta.json. For scripts and CI: exit code 1 if a task failed or cannot go on. When it is interrupted, it writes what there is.',
  options: [
    ...RUN_OPTIONS,
    { flags: '--max-parallel <number>', description: 'most tasks at once of each team in these files (sets spec.maxParallelTasks)' },
    { flags: '--results <dir>', description: 'where to write the results; what is there under the same names is replaced' },
    { flags: '--dry-run', description: 'check the files, print the tasks in the order they could start, and end' },
  ],
  async run(_args, options, context) {
    const maxParallel = countOf(text(options['maxParallel']));
    const written = await manifestsOf(options, context);
    if (written === undefined) return EXIT.failure;
    const objects = maxParallel === undefined ? written : written.map((object) => limited(object, maxParallel));
    if (options['dryRun'] === true) {
      context.out(planText(objects));
      return EXIT.ok;
    }
    return runManifests(objects, options, context, writerTo(text(options['results']), context.err));
  },
};

function writerTo(directory: string | undefined, err: (line: string) => void): Afterwards | undefined {
  if (directory === undefined) return undefined;
  ensureDirectory(directory);
  const startedAt = systemClock.now();
  return async ({ board, code }, connection) => {
    await writeResults(connection, { directory, board, exitCode: code, startedAt, finishedAt: systemClock.now() });
    err(`results: ${directory}/summary.json\n`);
  };
}

/** Now, and not when the work is done and has nowhere to go. */
function ensureDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--results ${directory}: ${messageOf(error)}`, { hint: 'give a folder that can be written to' });
  }
}

function limited(object: KindObject, maxParallelTasks: number): KindObject {
  if (object.kind !== 'Team') return object;
  const team = object as Team;
  return { ...team, spec: { ...team.spec, maxParallelTasks } } as KindObject;
}

function countOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw new UsageError(`option '--max-parallel' argument '${value}' is invalid. Give a number from 1 to 9999.`);
}
