/** `npm run bench`: runs one benchmark, prints its table, optionally writes docs/benchmarks.md, ends with the verdict's exit code. */
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { agentsBench } from './agents.bench.ts';
import { apiBench } from './api.bench.ts';
import { describeMachine } from './harness/machine.ts';
import { measure, type Result } from './harness/measure.ts';
import { type Bench, MissingToolError, type Operation } from './harness/operation.ts';
import { seededRandom } from './harness/random.ts';
import { writeReport } from './harness/report.ts';
import { makeScratch } from './harness/scratch.ts';
import { renderTerminal, toCells, toRemarks } from './harness/table.ts';
import { EXIT_CODES, worstOf } from './harness/verdict.ts';
import { mcpBench } from './mcp.bench.ts';
import { mergeBench } from './merge.bench.ts';
import { messagesBench } from './messages.bench.ts';
import { type Options, parseOptions, USAGE, UsageError } from './options.ts';
import { scaleBench } from './scale.bench.ts';
import { storeBench } from './store.bench.ts';
import { tasksBench } from './tasks.bench.ts';
import { vmBench } from './vm.bench.ts';

const BENCHES: readonly Bench[] = [storeBench, apiBench, agentsBench, messagesBench, tasksBench, scaleBench, mergeBench, mcpBench, vmBench];
const EXIT_CANNOT_RUN = 2;
const DEFAULT_ROUNDS = 20;

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const) {
  // Exit handlers end the servers and remove the data.
  process.on(signal, () => process.exit(128 + number));
}
// scripts/bench.mjs holds the other end: it was killed.
process.on('disconnect', () => process.exit(EXIT_CANNOT_RUN));
process.exit(await main());

async function main(): Promise<number> {
  try {
    const options = parseOptions(process.argv.slice(2), () => randomInt(1, 2 ** 31));
    return await run(options, selectOperations(options));
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof MissingToolError)) throw error;
    process.stderr.write(`${error.message}\n${error instanceof UsageError ? USAGE : ''}`);
    return EXIT_CANNOT_RUN;
  }
}

async function run(options: Options, operations: readonly Operation[]): Promise<number> {
  const { name, seed, quick, write } = options;
  process.stdout.write(`bench ${name}, seed ${seed}${quick ? ', quick: smaller sizes than named, the numbers prove nothing' : ''}\n`);
  const machine = machineOf();
  process.stdout.write(`${machine.map(({ label, value }) => `${label} ${value}`).join(', ')}\n`);
  const random = seededRandom(seed);
  const subjectModule = options.subject === undefined ? undefined : pathToFileURL(resolve(options.subject)).href;
  const results: Result[] = [];
  const skipped: string[] = [];
  for (const operation of operations) {
    const scratch = makeScratch();
    const settings = { dir: scratch.dir, quick, random, subjectModule };
    const onProgress = (done: number, planned: number): void => showProgress(operation.id, done, planned);
    try {
      results.push(await measure({ operation, settings, rounds: roundsOf(operation, options), onProgress }));
    } catch (error) {
      if (!(error instanceof MissingToolError)) throw error;
      skipped.push(`${operation.id}: skipped: ${error.message}`);
    }
    clearProgress();
    scratch.remove();
  }
  process.stdout.write(`\n${renderTerminal(toCells(results))}`);
  for (const remark of toRemarks(results)) process.stdout.write(`${remark}\n`);
  for (const { problem } of results) if (problem?.stack) process.stderr.write(`${problem.stack}\n`);
  for (const line of skipped) process.stderr.write(`${line}\n`);
  // What was not measured has neither passed nor failed, and a report without it would say less than the one before.
  if (skipped.length > 0) return EXIT_CANNOT_RUN;
  if (write) writeReport({ bench: name, date: new Date(), seed, machine, results });
  return EXIT_CODES[worstOf(results.map(({ verdict }) => verdict))];
}

function selectOperations({ name, only }: Options): readonly Operation[] {
  const bench = BENCHES.find((candidate) => candidate.name === name);
  if (bench === undefined) throw new UsageError(`no benchmark '${name}'`);
  const ids = bench.operations.map(({ id }) => id);
  const unknown = only.find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new UsageError(`no operation '${unknown}': ${ids.join(', ')}`);
  return only.length === 0 ? bench.operations : bench.operations.filter(({ id }) => only.includes(id));
}

/** --rounds is said for the operations of 20 rounds; those that start processes take proportionally fewer. */
function roundsOf({ rounds }: Operation, options: Options): number {
  if (options.rounds === undefined) return options.quick ? rounds.quick : rounds.full;
  return Math.ceil((rounds.full * options.rounds) / DEFAULT_ROUNDS);
}

function machineOf(): ReturnType<typeof describeMachine> {
  const scratch = makeScratch();
  try {
    return describeMachine(scratch.dir);
  } finally {
    scratch.remove();
  }
}

function showProgress(id: string, done: number, planned: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${id}: round ${done}/${planned}`);
  else if (done === 1) process.stderr.write(`${id}\n`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
