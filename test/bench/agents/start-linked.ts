/** How long until an agent with a link of its own answers: from the warm pool, where the link is made around what waits, and cold. */
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { silentLogger } from '#lib/log.ts';
import { FIRST_AGENT } from '#network/addresses.ts';
import { createNetwork } from '#network/create-network.ts';
import type { Network } from '#network/network.ts';
import { type BenchContext, BenchError, MissingToolError, type Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { openBareSandboxes } from './bare-sandboxes.ts';
import { figuresOf } from './figures.ts';
import { detectMachine, newSpec, openSandboxes, type Sandboxes } from './sandboxes.ts';
import { bareContestant, STARTS, untilListening } from './start.ts';

const POOL_ATTEMPTS = 3;
const { signal } = new AbortController();

export const startLinked: Operation = {
  id: 'start-pool-link',
  about:
    'from the wish for a link (namespace, veth, address, routes) until the guest in it has answered hello, by the calls of the daemon: a member of the pool is reserved and the link made around it; cold: the link, and then the sandbox, is made anew. The rules have rows of their own',
  rounds: { full: 20, quick: 3 },
  reference: 'bare',
  comparisons: [
    { label: 'warm pool to handshake, with its link, p50', unit: 'ms', ours: (of) => of('pool'), goal: atMost(60) },
    { label: '- of this the link', unit: 'ms', ours: (of) => of('pool, link') },
    {
      label: '- against a cold start with its link',
      unit: 'ms',
      ours: (of) => of('pool'),
      reference: { name: 'cold, with its link', value: (of) => of('cold') },
    },
    {
      label: '- against bwrap node hello',
      unit: 'ms',
      ours: (of) => of('pool'),
      reference: { name: 'bwrap node hello', value: (of) => of('bare') },
    },
  ],
  async open(context) {
    const machine = await detectMachine(context, 'the warm pool');
    const network = await openNetwork(context);
    const sandboxes = await openSandboxes(context, machine, { poolSize: 1 });
    const parts = { network, sandboxes };
    return [
      ...figuresOf(['pool', 'pool, link'], async () => {
        const { total, link } = await manyStarts(() => fromPool(context, parts));
        return { pool: total, 'pool, link': link };
      }),
      ...figuresOf(['cold'], async () => ({ cold: (await manyStarts(() => start(context, parts, false))).total })),
      bareContestant(await openBareSandboxes(context, machine)),
    ];
  },
};

interface Parts {
  readonly network: Network;
  readonly sandboxes: Sandboxes;
}

interface Start {
  readonly total: number;
  readonly link: number;
  readonly isFromPool: boolean;
}

/** In a router of its own, as every home has one: nothing of it concerns the machine. */
async function openNetwork({ dir, own }: BenchContext): Promise<Network> {
  const network = await createNetwork({ home: dir, log: silentLogger });
  if (network.mode !== 'nftables') throw new MissingToolError(`links cannot be made here: ${network.reason}`);
  own({ close: () => network.destroy(signal) });
  return network;
}

async function manyStarts(once: () => Promise<Start>): Promise<Pick<Start, 'total' | 'link'>> {
  const starts: Start[] = [];
  for (let done = 0; done < STARTS; done += 1) starts.push(await once());
  return { total: median(starts.map(({ total }) => total)), link: median(starts.map(({ link }) => link)) };
}

/** The pool learns what is wanted from the first that is asked for, so that one is not from the pool. */
async function fromPool(context: BenchContext, parts: Parts): Promise<Start> {
  for (let attempt = 0; attempt < POOL_ATTEMPTS; attempt += 1) {
    const started = await start(context, parts, true);
    if (started.isFromPool) return started;
  }
  throw new BenchError('the pool had nothing ready');
}

async function start(context: BenchContext, { network, sandboxes }: Parts, isReserved: boolean): Promise<Start> {
  const { driver, create, remove, poolSettled } = sandboxes;
  const spec = newSpec();
  const before = performance.now();
  const { namespace } = await network.ensureLink(FIRST_AGENT, signal, async () =>
    isReserved ? driver.reserve?.(planOf(spec)) : undefined,
  );
  const link = performance.now() - before;
  const { answered, isFromPool } = await create({ ...spec, network: namespace });
  const client = await answered();
  const total = performance.now() - before;
  client.close('measured');
  await poolSettled();
  await untilListening(context);
  await remove([spec.id]);
  await network.removeLink(FIRST_AGENT, signal);
  return { total, link, isFromPool };
}

function planOf({ id, resources, team, egress }: WorkspaceSpec) {
  return { id, resources, team, egress, hasBase: false };
}
