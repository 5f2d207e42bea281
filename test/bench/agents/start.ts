/** How long until an agent answers: a new sandbox, and one from the warm pool, against bubblewrap and node alone. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { type BenchContext, BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { type BareSandboxes, openBareSandboxes } from './bare-sandboxes.ts';
import { makeTree } from './files.ts';
import { detectMachine, newSpec, openSandboxes, type Sandboxes } from './sandboxes.ts';

type Differences = Partial<WorkspaceSpec>;

export const STARTS = 3;
const SOCKETS = 2;
const POOL_ATTEMPTS = 3;
const POOL_TIMEOUT_MS = 60_000;
const POOL_LOOK_MS = 20;
/** Between the sockets and the driver's knowledge of them lies one line on a pipe. */
const POOL_SETTLE_MS = 100;
const FILES = 5_000;
const QUICK_FILES = 500;

const cold: Operation = {
  id: 'start',
  about:
    'from driver.create until the guest has answered hello on its control connection; the reference is bubblewrap alone with the same arguments, started as the same uid, around one line of JavaScript that writes to a unix socket, its folder made ahead',
  rounds: { full: 20, quick: 3 },
  reference: 'bare',
  comparisons: [
    {
      label: 'sandbox start to handshake, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'bwrap node hello', value: (of) => of('bare') },
      goal: atMost(1.3),
    },
  ],
  async open(context) {
    const machine = await detectMachine(context);
    const sandboxes = await openSandboxes(context, machine);
    return [startContestant('ours', sandboxes), bareContestant(await openBareSandboxes(context, machine))];
  },
};

const warm: Operation = {
  id: 'start-pool',
  about:
    'the same from the warm pool; the next member is started afterwards, as in the daemon; with a base of 5,000 files its overlay is mounted into the sandbox that runs',
  rounds: { full: 20, quick: 3 },
  reference: 'bare',
  comparisons: [
    { label: 'warm pool to handshake, p50', unit: 'ms', ours: (of) => of('pool'), goal: atMost(60) },
    {
      label: '- against bwrap node hello',
      unit: 'ms',
      ours: (of) => of('pool'),
      reference: { name: 'bwrap node hello', value: (of) => of('bare') },
    },
    { label: '- with a base', unit: 'ms', ours: (of) => of('pool with base') },
  ],
  async open(context) {
    const machine = await detectMachine(context, 'the warm pool');
    const base = makeTree(join(context.dir, 'base'), context.quick ? QUICK_FILES : FILES);
    const sandboxes = await openSandboxes(context, machine, { poolSize: 1 });
    const pooled = (name: string, differences: Differences): Contestant => ({
      name,
      run: () => medianOf(Array.from({ length: STARTS }), () => fromPool(context, sandboxes, differences)),
    });
    return [pooled('pool', {}), pooled('pool with base', { base }), bareContestant(await openBareSandboxes(context, machine))];
  },
};

export const startOperations: readonly Operation[] = [cold, warm];

function startContestant(name: string, sandboxes: Sandboxes): Contestant {
  return { name, run: () => medianOf(Array.from({ length: STARTS }), () => timeStart(sandboxes, newSpec())) };
}

async function timeStart({ create, remove }: Sandboxes, spec: WorkspaceSpec): Promise<number> {
  const before = performance.now();
  const client = await (await create(spec)).answered();
  const elapsed = performance.now() - before;
  client.close('measured');
  await remove([spec.id]);
  return elapsed;
}

export function bareContestant(bare: BareSandboxes): Contestant {
  const once = async (): Promise<number> => {
    const before = performance.now();
    const sandbox = await bare.start(0);
    const elapsed = performance.now() - before;
    await sandbox.end();
    return elapsed;
  };
  return { name: 'bare', run: () => medianOf(Array.from({ length: STARTS }), once) };
}

/** The pool learns what is wanted from the first that is asked for, so that one is not from the pool. */
async function fromPool(context: BenchContext, sandboxes: Sandboxes, differences: Differences): Promise<number> {
  for (let attempt = 0; attempt < POOL_ATTEMPTS; attempt += 1) {
    const elapsed = await timeFromPool(context, sandboxes, newSpec(differences));
    if (elapsed !== undefined) return elapsed;
  }
  throw new BenchError('the pool had nothing ready');
}

/** undefined: it was not from the pool. */
async function timeFromPool(
  context: BenchContext,
  { create, remove, poolSettled }: Sandboxes,
  spec: WorkspaceSpec,
): Promise<number | undefined> {
  const before = performance.now();
  const { answered, isFromPool } = await create(spec);
  const client = await answered();
  const elapsed = performance.now() - before;
  client.close('measured');
  await poolSettled();
  await untilListening(context);
  await remove([spec.id]);
  return isFromPool ? elapsed : undefined;
}

/** Those that are started ahead. */
export async function untilListening({ dir }: BenchContext): Promise<void> {
  const stateDir = join(dir, 'sandboxes');
  const members = () => readdirSync(stateDir).filter((name) => name.startsWith('.pool-'));
  const deadline = performance.now() + POOL_TIMEOUT_MS;
  while (members().some((name) => readdirSync(join(stateDir, name, 'run')).length < SOCKETS)) {
    if (performance.now() > deadline) throw new BenchError('the pool does not get ready');
    await delay(POOL_LOOK_MS);
  }
  await delay(POOL_SETTLE_MS);
}
