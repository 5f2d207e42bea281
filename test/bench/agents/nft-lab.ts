/** The network under measurement, in namespaces of its own (see nft.ts): two real agents, and as many more as elements of the rules. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '#lib/log.ts';
import { createNetwork } from '#network/create-network.ts';
import type { Network, Policy } from '#network/network.ts';
import { type Call, openCalls, serveCalls } from '../../support/network-lines.ts';

const HOME = '/run/home';
const PORT = 8080;
const FIRST = 2;
const SECOND = 3;
const signal = new AbortController().signal;
let network: Network | undefined;
let router = '';
let connector: Call | undefined;

/** Teams of ten with three ports each. */
function policyOf(agents: number): Policy {
  const members = Array.from({ length: agents }, (_, index) => ({ agent: FIRST + index, team: 1 + Math.floor(index / 10) }));
  const teams = [...new Set(members.map(({ team }) => team))].map((team) => ({
    team,
    allowInterAgent: true,
    allowedPorts: [PORT, PORT + 1, PORT + 2],
    allowInternet: false,
    allowCidrs: [],
  }));
  return { teams, members };
}

function the(): Network {
  if (!network) throw new Error('open it first');
  return network;
}

async function enter(namespace: string): Promise<Call> {
  const script = fileURLToPath(new URL('./nft-connector.ts', import.meta.url));
  const args = [`--net=${namespace}`, '--', process.execPath, ...process.execArgv, script];
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return openCalls(child);
}

async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

serveCalls({
  /** `rules` false: the same links and routes, and no rule at all. */
  async open(agents: number, { links, rules }: { readonly links: boolean; readonly rules: boolean }) {
    mkdirSync(HOME, { recursive: true });
    network = await createNetwork({ home: HOME, log: silentLogger });
    const { namespace } = await network.ensureLink(FIRST, signal);
    router = namespace.replace(/-\d+$/, '');
    await network.apply(policyOf(agents), signal);
    if (links) {
      const second = await enter((await network.ensureLink(SECOND, signal)).namespace);
      await second('listen', PORT);
      connector = await enter(namespace);
    }
    if (rules) return;
    await network.close();
    const { status } = spawnSync('nsenter', [`--net=${router}`, '--', 'nft', 'flush', 'ruleset']);
    if (status !== 0) throw new Error('the rules cannot be taken away');
  },
  /** From the wish to rules that were read back; ms. */
  async addAgent(agents: number) {
    const more = policyOf(agents + 1);
    const elapsed = await timed(() => the().apply(more, signal));
    await the().apply(policyOf(agents), signal);
    return elapsed;
  },
  /** What one process of nft costs at least; ms. */
  emptyTransaction: () => timed(() => spawnSync('nsenter', [`--net=${router}`, '--', 'nft', '-f', '-'], { input: '' })),
  connects: (count: number) => connector?.('connects', `10.99.0.${SECOND}`, PORT, count),
});
