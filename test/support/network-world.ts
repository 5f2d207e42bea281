/** The test's handle on a lab: starts it in namespaces of its own, where nothing it does concerns the machine. */
import { spawn, spawnSync } from 'node:child_process';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import type { Counters, Link, Policy } from '#network/network.ts';
import { type Call, openCalls } from './network-lines.ts';
import { scriptCommand } from './script.ts';

const PRIVATE = ['unshare', '--net', '--mount', '--', '/bin/sh', '-c'];
const PREPARE = 'mount -t tmpfs t /run && mkdir -p /run/netns && ip link set lo up';

/** Empty when real packets can be sent here, else why not. */
export function missingForPackets(): string {
  if (process.getuid?.() !== 0) return 'not root';
  const { status, stderr } = spawnSync(PRIVATE[0] ?? '', [...PRIVATE.slice(1), `${PREPARE} && nft list ruleset`], { encoding: 'utf8' });
  return status === 0 ? '' : `no private network namespace with nft: ${stderr.trim()}`;
}

export interface Agent {
  listen(port: number, host?: string): Promise<void>;
  connect(host: string, port: number, localAddress?: string): Promise<string>;
  hold(host: string, port: number): Promise<number>;
  poke(key: number): Promise<{ readonly echoed: number; readonly end: string }>;
  accepted(): Promise<string[]>;
  udpEcho(port: number): Promise<void>;
  udpOpen(): Promise<number>;
  udpSend(key: number, host: string, port: number): Promise<string>;
}

export interface Lab {
  create(home: string, options?: Record<string, unknown>): Promise<{ readonly mode: string; readonly reason: string }>;
  ensureLink(home: string, agent: number): Promise<Link>;
  /** The same for an agent whose first process there is already. */
  ensureLinkAround(home: string, agent: number, first: ProcessIdentity): Promise<Link>;
  identityOf(pid: number): Promise<ProcessIdentity>;
  removeLink(home: string, agent: number): Promise<void>;
  listLinks(home: string): Promise<number[]>;
  apply(home: string, policy: Policy): Promise<void>;
  applyAll(home: string, policies: readonly Policy[]): Promise<void>;
  counters(home: string): Promise<Counters>;
  drifts(home: string): Promise<string[]>;
  close(home: string): Promise<void>;
  destroy(home: string): Promise<void>;
  monitorPid(): Promise<number>;
  sh(command: string): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }>;
  /** A process in a namespace, to send packets from. */
  enter(name: string, namespace: string): Promise<Agent>;
  stop(): Promise<void>;
  /** As a daemon that is killed. */
  kill(): Promise<void>;
}

export async function startLab(): Promise<Lab> {
  const [command = '', ...args] = [...PRIVATE, `${PREPARE} && exec "$@"`, 'lab', ...scriptCommand('network-lab.ts', [])];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const call = await openCalls(child);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const enter = async (name: string, namespace: string): Promise<Agent> => {
    await call('enter', name, namespace);
    return forward((method, ...rest) => call('ask', name, method, ...rest)) as unknown as Agent;
  };
  return forward(call, { enter, stop, kill }) as unknown as Lab;
}

/** Every method but our own is a call to the other side. */
function forward(call: Call, own: object = {}): object {
  return new Proxy(own, {
    get(target, method) {
      if (method === 'then' || Reflect.has(target, method)) return Reflect.get(target, method);
      return (...args: unknown[]) => call(String(method), ...args);
    },
  });
}
