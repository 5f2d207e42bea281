/** What the rules cost: to change them when one agent comes, and for every connection between agents, by how many there are. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Call, openCalls } from '../../support/network-lines.ts';
import { type BenchContext, BenchError, type Contestant, MissingToolError, type Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';

const AGENTS = 1_000;
const QUICK_AGENTS = 50;
const ADDS = 5;
const SIZES = [10, 1_000, 5_000] as const;
const CONNECTS = 200;
/** Everything happens in namespaces that end with the process: nothing of it concerns the machine. */
const PRIVATE = ['--net', '--mount', '--', '/bin/sh', '-c'];
const PREPARE = 'mount -t tmpfs t /run && mkdir -p /run/netns && ip link set lo up';

const addAgent: Operation = {
  id: 'nft-add-agent',
  about: 'one transaction and its proof at 1,000 agents in teams of ten; the reference is an empty nft -f',
  rounds: { full: 20, quick: 3 },
  reference: 'empty',
  comparisons: [
    { label: 'rules: one more agent at 1,000, p50', unit: 'ms', ours: (of) => of('ours'), goal: atMost(25) },
    {
      label: '- against an empty nft -f',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'empty nft -f', value: (of) => of('empty') },
    },
  ],
  async open(context) {
    const agents = context.quick ? QUICK_AGENTS : AGENTS;
    const call = await startLab(context);
    await call('open', agents, { links: false, rules: true });
    const times = (method: string) => medianOf(Array.from({ length: ADDS }), async () => numberFrom(await call(method, agents)));
    return [
      { name: 'ours', run: () => times('addAgent') },
      { name: 'empty', run: () => times('emptyTransaction') },
    ];
  },
};

const connectCost: Operation = {
  id: 'nft-connect',
  about: 'connect(2) between two agents of one team over their real links; the reference is the same router without rules',
  rounds: { full: 20, quick: 3 },
  reference: 'no rules',
  comparisons: [
    ...SIZES.map((size) => ({
      label: `rules: connect() with ${size.toLocaleString('en')} agents, p50`,
      unit: 'ms' as const,
      ours: (of: (contestant: string) => number) => of(nameOf(size)),
      reference: { name: 'no rules', value: (of: (contestant: string) => number) => of('no rules') },
    })),
    {
      label: 'rules: connect() with 5,000 agents against 10',
      unit: 'ms',
      ours: (of) => of(nameOf(5_000)),
      reference: { name: '10 agents', value: (of) => of(nameOf(10)) },
      goal: atMost(1.25),
    },
  ],
  async open(context) {
    const contestants = [await connecting(context, 'no rules', 2, false)];
    for (const size of SIZES)
      contestants.push(await connecting(context, nameOf(size), context.quick ? Math.min(size, QUICK_AGENTS) : size, true));
    return contestants;
  },
};

export const nftOperations: readonly Operation[] = [addAgent, connectCost];

async function connecting(context: BenchContext, name: string, agents: number, rules: boolean): Promise<Contestant> {
  const call = await startLab(context);
  await call('open', agents, { links: true, rules });
  return { name, run: async () => numberFrom(await call('connects', CONNECTS)) };
}

async function startLab({ own }: BenchContext): Promise<Call> {
  if (spawnSync('unshare', [...PRIVATE, `${PREPARE} && nft list ruleset`], { stdio: 'ignore' }).status !== 0) {
    throw new MissingToolError('the network benchmarks need root, iproute2 and nftables');
  }
  const script = fileURLToPath(new URL('./nft-lab.ts', import.meta.url));
  const argv = [...PRIVATE, `${PREPARE} && exec "$@"`, 'lab', process.execPath, ...process.execArgv, script];
  const child = spawn('unshare', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  own({
    async close() {
      child.stdin.end();
      await ended;
    },
  });
  return openCalls(child);
}

function nameOf(size: number): string {
  return `${size} agents`;
}

function numberFrom(value: unknown): number {
  if (typeof value === 'number' && value > 0) return value;
  throw new BenchError(`measured ${JSON.stringify(value)}`);
}
