/**
 * Agents under fire: guests, sandboxes and the daemon itself are killed at random points of boot, work and stop. Afterwards every Agent is Ready
 * again or cleanly gone, no attempt ran twice, and nothing of it is left on the machine.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { type Random, seededRandom } from '../bench/harness/random.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';
import { machineStateOf, NOTHING_LEFT } from '../support/machine-state.ts';
import { deepestChild, isProcessOf, killQuietly } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 40 : 20;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const WAIT = { timeout: 120_000, interval: 100 };
const API = '/apis/agentiso.dev/v1alpha1/namespaces/default';

const isRoot = process.getuid?.() === 0;
const has = (tool: string) => {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const place = temporaryFolder();
afterAll(() => place.remove());

const team = (driver: string) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name: 'fire' },
  spec: { isolation: { driver }, roles: [{ name: 'worker', count: 3, restartPolicy: 'Always' }], terminationGracePeriodSeconds: 6 },
});

/** Each attempt leaves one line in a file of the workspace; a second start of the same attempt would leave a second one. */
const task = (name: string) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata: { name: `fire-${name}` },
  spec: {
    team: 'fire',
    maxAttempts: 50,
    timeoutSeconds: 60,
    command: `echo ${name}-$AGENTISO_ATTEMPT >> starts; sleep 0.$(($$ % 5)); echo done`,
  },
});

class Campaign {
  readonly home: string;
  readonly random: Random;
  daemon!: Daemon;
  readonly uids = new Set<string>();

  constructor(driver: string) {
    this.home = join(place.folder, driver);
    this.random = seededRandom(SEED);
  }

  async start(): Promise<void> {
    this.daemon = await startDaemon(this.home);
  }

  async list<T>(plural: string): Promise<T[]> {
    return (await this.daemon.api.call('GET', `${API}/${plural}`)).json().items as T[];
  }

  async agents(): Promise<Agent[]> {
    const agents = await this.list<Agent>('agents');
    for (const { metadata } of agents) this.uids.add(metadata.uid);
    return agents;
  }

  async create(plural: string, object: object): Promise<void> {
    const { status, text } = await this.daemon.api.call('POST', `${API}/${plural}`, { body: object });
    expect(status, text).toBe(201);
  }

  /** One blow: at a process of an agent, or at the daemon, some moments from now. */
  async strike(): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, this.random() * 400));
    const dice = this.random();
    if (dice < 0.4) {
      await this.daemon.kill();
      await this.start();
      return 'the daemon';
    }
    // One that exits more than five times in ten minutes is given up on purpose; a new daemon counts from the start.
    const agents = (await this.agents()).filter(({ status }) => (status?.restarts ?? 0) < 4);
    const victim = agents[Math.floor(this.random() * agents.length)];
    const pid = victim?.status?.pid;
    if (pid === undefined || !isProcessOf(pid, victim?.metadata.uid ?? '')) return 'nobody';
    const target = dice < 0.7 ? pid : (deepestChild(pid) ?? pid);
    killQuietly(target);
    return `${target === pid ? 'the first process' : 'the guest'} of ${victim?.metadata.name}`;
  }
}

async function fight(driver: string): Promise<void> {
  const campaign = new Campaign(driver);
  await campaign.start();
  try {
    await campaign.create('teams', team(driver));
    const struck: string[] = [];
    for (let next = 0; struck.length < KILLS; ) {
      for (let i = 0; i < 2; i++) await campaign.create('tasks', task(`t${next++}`));
      struck.push(await campaign.strike());
    }
    console.info(`agents under fire, ${driver}, seed ${SEED}: ${struck.join(', ')}`);
    await vi.waitFor(async () => {
      const agents = await campaign.agents();
      expect(agents.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status)).toEqual([
        'True',
        'True',
        'True',
      ]);
      const tasks = await campaign.list<Task>('tasks');
      expect(
        tasks
          .filter(({ status }) => status?.phase !== 'Succeeded')
          .map(({ metadata, status }) => `${metadata.name} ${status?.phase} ${status?.reason}`),
      ).toEqual([]);
    }, WAIT);
    await expectEachStartOnce(campaign);
    // What is looked at afterwards must be there now, or the look proves nothing.
    const { processes, namespaces, groups } = machineStateOf(campaign.home, [...campaign.uids]);
    expect([processes.length >= 3, namespaces.length, groups.length > 0]).toEqual(
      driver === 'sandbox' ? [true, 4, true] : [true, 0, false],
    );
    await campaign.daemon.api.call('DELETE', `${API}/teams/fire`);
    await vi.waitFor(async () => expect(await campaign.agents()).toEqual([]), WAIT);
    await campaign.daemon.stop();
    await vi.waitFor(() => expect(machineStateOf(campaign.home, [...campaign.uids])).toEqual(NOTHING_LEFT), WAIT);
  } finally {
    await campaign.daemon.stop();
  }
}

/** Read through the agents themselves: a sandbox's files are not the host's business. */
async function expectEachStartOnce(campaign: Campaign): Promise<void> {
  const lines: string[] = [];
  for (const { metadata, spec } of await campaign.agents()) {
    const name = `fire-read-${metadata.name}`;
    await campaign.create('tasks', {
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name },
      spec: { team: spec.team, assignTo: metadata.name, command: 'cat starts 2>/dev/null || true', maxAttempts: 5 },
    });
    const stdout = await vi.waitFor(async () => {
      const found = (await campaign.list<Task>('tasks')).find((each) => each.metadata.name === name);
      expect(found?.status?.phase).toBe('Succeeded');
      return found?.status?.result?.stdout ?? '';
    }, WAIT);
    lines.push(...stdout.split('\n').filter(Boolean));
  }
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
}

requires(isRoot && has('bwrap') && has('nft'), 'sandboxes need root, bubblewrap and nftables')('sandboxes under fire', () => {
  it(`are all ready again after ${KILLS} kills, nothing ran twice and nothing is left (seed ${SEED})`, () => fight('sandbox'));
});

it(`plain processes are all ready again after ${KILLS} kills, nothing ran twice and nothing is left (seed ${SEED})`, () =>
  fight('process'));
