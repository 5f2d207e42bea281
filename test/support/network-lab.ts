/**
 * A machine of its own for tests of packets: run it under `unshare --net --mount` with a private /run (see network-world.ts).
 * Networks are made in it by the product's own code; agents are processes in the namespaces that it made.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { silentLogger } from '#lib/log.ts';
import { type ProcessIdentity, readProcessIdentity } from '#lib/process-identity.ts';
import { createNetwork } from '#network/create-network.ts';
import type { Network, Policy } from '#network/network.ts';
import { type Call, openCalls, serveCalls } from './network-lines.ts';
import { scriptCommand } from './script.ts';

const signal = new AbortController().signal;
const networks = new Map<string, { readonly network: Network; readonly drifts: string[] }>();
const agents = new Map<string, { readonly child: ChildProcess; readonly call: Call }>();

function the(home: string): Network {
  const entry = networks.get(home);
  if (!entry) throw new Error(`no network ${home}`);
  return entry.network;
}

serveCalls({
  async create(
    home: string,
    options: { uplink?: boolean; checkEveryMs?: number; hostAddresses?: string[]; toolDirectories?: string[] } = {},
  ) {
    const path = `/run/homes/${home}`;
    mkdirSync(path, { recursive: true });
    const { hostAddresses, ...rest } = options;
    const given = hostAddresses ? { hostAddresses: () => hostAddresses } : {};
    const network = await createNetwork({ home: path, log: silentLogger, ...rest, ...given });
    const drifts: string[] = [];
    network.onDrift((what) => drifts.push(what));
    networks.set(home, { network, drifts });
    return { mode: network.mode, reason: network.reason };
  },
  ensureLink: (home: string, agent: number) => the(home).ensureLink(agent, signal),
  ensureLinkAround: (home: string, agent: number, first: ProcessIdentity) => the(home).ensureLink(agent, signal, async () => first),
  identityOf: (pid: number) => readProcessIdentity(pid),
  removeLink: (home: string, agent: number) => the(home).removeLink(agent, signal),
  listLinks: (home: string) => the(home).listLinks(signal),
  apply: (home: string, policy: Policy) => the(home).apply(policy, signal),
  /** All at once, as controllers do. */
  applyAll: (home: string, policies: Policy[]) => Promise.all(policies.map((policy) => the(home).apply(policy, signal))).then(() => {}),
  counters: (home: string) => the(home).counters(signal),
  drifts: (home: string) => networks.get(home)?.drifts,
  close: (home: string) => the(home).close(),
  destroy: (home: string) => the(home).destroy(signal),

  /** The child of ours that watches the rules. */
  monitorPid() {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
    return Number(children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('monitor')));
  },

  sh(command: string) {
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    return { status, stdout, stderr };
  },

  /** Starts an agent's process in a namespace. */
  async enter(name: string, namespace: string) {
    const child = spawn('nsenter', [`--net=${namespace}`, '--', ...scriptCommand('network-agent.ts', [])], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    agents.set(name, { child, call: await openCalls(child) });
  },
  ask: (name: string, method: string, ...args: unknown[]) => agents.get(name)?.call(method, ...args),
});
