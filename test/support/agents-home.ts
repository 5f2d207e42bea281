/** A daemon with real sandboxes: made, asked, killed, and looked after until nothing of it is left on the machine. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, vi } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { startWithout } from './agents-without-tool.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { type CliResult, type CliRun, runCli, startCli } from './cli.ts';
import { readKubeconfig, temporaryFolder } from './daemon.ts';
import { machineStateOf, NOTHING_LEFT } from './machine-state.ts';
import { requires } from './requirements.ts';

export const WAIT = { timeout: 30_000, interval: 30 };
const API_GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';

const hasTool = (tool: string) => spawnSync('which', [tool], { stdio: 'ignore' }).status === 0;
const canSandbox = process.getuid?.() === 0 && hasTool('bwrap') && hasTool('nft');

/** As `describe`, for what needs sandboxes with a network. */
export const withSandboxes = requires(canSandbox, 'sandboxes with a network need root, bubblewrap and nftables');

interface Started {
  readonly run: CliRun;
  readonly api: ApiClient;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind, looked at by assertions
type Any = any;

export class AgentsHome {
  #place: ReturnType<typeof temporaryFolder> | undefined;
  readonly #uids = new Set<string>();
  #started: Started | undefined;

  /** Made when it is first asked for: a suite that is skipped leaves nothing. */
  get folder(): string {
    this.#place ??= temporaryFolder();
    return this.#place.folder;
  }

  get home(): string {
    return join(this.folder, 'home');
  }

  get kubeconfig(): string {
    return join(this.home, 'kubeconfig');
  }

  start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<void> {
    return this.#follow(startCli(['serve', '--home', this.home, ...args], { env }));
  }

  /** As on a machine that does not have this tool. */
  startWithout(tool: string, args: readonly string[] = []): Promise<void> {
    return this.#follow(startWithout(tool, ['serve', '--home', this.home, ...args], this.folder));
  }

  async #follow(run: CliRun): Promise<void> {
    await run.said('agentiso ready');
    this.#started = { run, api: apiClient(readKubeconfig(this.kubeconfig)) };
  }

  /** Resolves when the daemon has said this. */
  said(text: string): Promise<void> {
    return this.#running().run.said(text);
  }

  /** Of the daemon. */
  get pid(): number {
    return this.#running().run.child.pid ?? 0;
  }

  /** What config.yaml says from now on. */
  configure(settings: object): void {
    writeFileSync(join(this.home, 'config.yaml'), JSON.stringify(settings));
    this.#running().run.child.kill('SIGHUP');
  }

  stop(): Promise<CliResult> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<CliResult> {
    return this.#end('SIGKILL');
  }

  /** For one that ends by itself. */
  async ended(): Promise<CliResult> {
    const { run, api } = this.#running();
    const result = await run.result;
    this.#started = undefined;
    api.close();
    return result;
  }

  async #end(signal: NodeJS.Signals): Promise<CliResult> {
    const { run, api } = this.#running();
    // What there is now is what may be left behind.
    await this.agents();
    this.#started = undefined;
    api.close();
    run.child.kill(signal);
    return run.result;
  }

  /** For afterAll: ends the daemon, and fails when it said anything else or left anything. */
  async close(stderr: unknown = ''): Promise<void> {
    try {
      // After a test that failed between two daemons: only a daemon can end what the last one left.
      if (!this.#started && !isDeepStrictEqual(this.machineState(), NOTHING_LEFT)) await this.start();
      if (this.#started) expect(await this.stop()).toMatchObject({ code: 0, stderr });
      await vi.waitFor(() => expect(this.machineState()).toEqual(NOTHING_LEFT), WAIT);
    } finally {
      this.#place?.remove();
    }
  }

  machineState() {
    return machineStateOf(this.home, [...this.#uids]);
  }

  #running(): Started {
    if (!this.#started) throw new Error('no daemon runs');
    return this.#started;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Any> {
    const { api, run } = this.#running();
    const { status, text, json } = await api.call(method, path, { body, headers }).catch(async (error: unknown) => {
      if (run.child.exitCode === null && run.child.signalCode === null) throw error;
      const { code, stderr } = await run.result;
      throw new Error(`the daemon has ended with ${code ?? run.child.signalCode}: ${stderr}`, { cause: error });
    });
    expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
    return json();
  }

  create(kind: 'Team' | 'Task' | 'Agent' | 'Snapshot', name: string, spec: object): Promise<Any> {
    const object = { apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec };
    return this.call('POST', `${API_GROUP}/${kind.toLowerCase()}s`, object);
  }

  /** A merge patch of the spec. */
  change(plural: string, name: string, spec: object): Promise<Any> {
    return this.call('PATCH', `${API_GROUP}/${plural}/${name}`, { spec }, { 'Content-Type': 'application/merge-patch+json' });
  }

  delete(plural: string, name: string): Promise<Any> {
    return this.call('DELETE', `${API_GROUP}/${plural}/${name}`);
  }

  async list(plural: string): Promise<Any[]> {
    return (await this.call('GET', `${API_GROUP}/${plural}`)).items;
  }

  async agents(): Promise<Agent[]> {
    const agents = (await this.list('agents')) as Agent[];
    for (const { metadata } of agents) this.#uids.add(metadata.uid);
    return agents;
  }

  async agent(name: string): Promise<Agent> {
    const found = (await this.agents()).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`there is no agent ${name}`);
    return found;
  }

  async events(reason: string): Promise<Any[]> {
    const { items } = await this.call('GET', '/api/v1/namespaces/default/events');
    return items.filter((event: Any) => event.reason === reason);
  }

  /** Waits until the agents are ready, and gives them. `isNew`: what else must be so of each. */
  ready(names: readonly string[], isNew: (agent: Agent) => boolean = () => true): Promise<Agent[]> {
    return vi.waitFor(async () => {
      const found = await Promise.all(names.map((name) => this.agent(name)));
      for (const agent of found) {
        expect(conditionOf(agent, 'Ready'), JSON.stringify(agent.status)).toMatch(/^True /);
        expect(isNew(agent), JSON.stringify(agent.status)).toBe(true);
      }
      return found;
    }, WAIT);
  }

  task(name: string): Promise<Task> {
    return this.call('GET', `${API_GROUP}/tasks/${name}`);
  }

  /** Waits for the phase of a task. */
  reached(name: string, phase: string): Promise<Task> {
    return vi.waitFor(async () => {
      const task = await this.task(name);
      expect(task.status?.phase, JSON.stringify(task.status)).toBe(phase);
      return task;
    }, WAIT);
  }

  /** The product's own command line. */
  cli(...args: readonly string[]): Promise<CliResult> {
    return runCli([...args, '--home', this.home]);
  }

  startCli(...args: readonly string[]): CliRun {
    return startCli([...args.slice(0, 1), '--home', this.home, ...args.slice(1)]);
  }

  /** Runs a command in an agent; its output. */
  async inside(agent: string, ...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.startCli('exec', agent, '--', ...argv).result;
    expect([code, stderr], `${argv.join(' ')}: ${stdout}`).toEqual([0, '']);
    return stdout;
  }
}

export function conditionOf({ status }: Agent, type: string): string {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found ? `${found.status} ${found.reason}` : 'absent';
}
