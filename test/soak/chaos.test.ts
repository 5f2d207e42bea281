/**
 * Teams at work while everything around them is killed: guests, sandboxes, the daemon. The task bodies keep a log of their own; afterwards it says
 * that every task was done, no attempt ran twice, attempts of one task never overlapped, no message that was accepted is missing, none came
 * again after it had been acknowledged, and nothing is left on the machine.
 */
import { afterAll, expect, it, vi } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import { type Random, seededRandom } from '../bench/harness/random.ts';
import { AgentsHome, withSandboxes } from '../support/agents-home.ts';
import { chaosBody, chaosCommand, checkAttempts, checkMessages, inOrder, type LogLine, parseLog } from '../support/chaos-log.ts';
import { deepestChild, isProcessOf, killQuietly } from '../support/processes.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const TEAMS = ['red', 'green', 'blue'] as const;
const SIZE = isFull ? { agents: 10, tasks: 200, messages: 10, kills: 60 } : { agents: 3, tasks: 12, messages: 5, kills: 10 };
const WAIT = { timeout: isFull ? 1_200_000 : 240_000, interval: 250 };
/** One that exits more than five times in ten minutes is given up on purpose. */
const MAX_RESTARTS = 4;

const home = new AgentsHome();
afterAll(() => home.close(expect.anything()));

const peersOf = (team: string) => Array.from({ length: SIZE.agents }, (_, index) => `worker-${index + 1}`).map((name) => ({ team, name }));

async function createTeams(random: Random): Promise<string[]> {
  for (const name of TEAMS) {
    await home.create('Team', name, {
      roles: [{ name: 'worker', count: SIZE.agents, restartPolicy: 'Always', maxConcurrentTasks: 1, resources: { memoryMiB: 256 } }],
      budget: { maxAgents: SIZE.agents },
      terminationGracePeriodSeconds: 6,
    });
  }
  const tasks: string[] = [];
  for (let index = 0; index < SIZE.tasks; index += 1) {
    for (const team of TEAMS) {
      // Up to two of those before it.
      const dependsOn = [...new Set([1, 2].filter(() => index > 0 && random() < 0.4).map(() => `t${Math.floor(random() * index)}`))];
      const names = peersOf(team).map(({ name }) => name);
      const from = Math.floor(random() * names.length);
      const peers = [...names.slice(from), ...names.slice(0, from)].slice(0, 5);
      const command = chaosCommand(`${team}-t${index}`, peers, SIZE.messages);
      await home.create('Task', `${team}-t${index}`, { team, dependsOn, command, maxAttempts: 100, timeoutSeconds: 300 });
      tasks.push(`${team}-t${index}`);
    }
  }
  return tasks;
}

/** One blow, some moments from now. */
async function strike(random: Random): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, random() * 1_500));
  const dice = random();
  if (dice < 0.3) {
    await home.kill();
    await home.start();
    return 'the daemon';
  }
  const agents = (await home.agents()).filter(({ status }) => (status?.restarts ?? 0) < MAX_RESTARTS);
  const victim = agents[Math.floor(random() * agents.length)];
  const pid = victim?.status?.pid;
  if (pid === undefined || !isProcessOf(pid, victim?.metadata.uid ?? '')) return 'nobody';
  const target = dice < 0.65 ? pid : (deepestChild(pid) ?? pid);
  killQuietly(target);
  return `${target === pid ? 'the sandbox' : 'the guest'} of ${victim?.metadata.name}`;
}

async function expectBudgetsKept(): Promise<void> {
  const agents = await home.agents();
  for (const { metadata, spec } of (await home.list('teams')) as Team[]) {
    expect(agents.filter((agent: Agent) => agent.spec.team === metadata.name).length).toBeLessThanOrEqual(spec.budget.maxAgents);
  }
}

function allSucceeded(tasks: readonly string[]): Promise<void> {
  return vi.waitFor(async () => {
    const found = new Map(((await home.list('tasks')) as Task[]).map((task) => [task.metadata.name, task.status]));
    expect(
      tasks
        .filter((name) => found.get(name)?.phase !== 'Succeeded')
        .map((name) => `${name} ${found.get(name)?.phase} ${found.get(name)?.reason}`),
    ).toEqual([]);
  }, WAIT);
}

async function readLogs(): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (const { metadata, spec } of await home.agents()) {
    const { name } = metadata;
    await vi.waitFor(async () => {
      const { code, stderr } = await home.startCli('exec', name, '--', 'node', '-e', chaosBody, 'drain').result;
      expect([code, stderr]).toEqual([0, '']);
    }, WAIT);
    const text = await home.inside(name, 'sh', '-c', 'cat log 2>/dev/null || true');
    lines.push(...parseLog(`${spec.team}/${name.slice(spec.team.length + 1)}`, text));
  }
  return inOrder(lines);
}

withSandboxes('chaos', () => {
  it(`loses, repeats and leaves nothing: ${SIZE.agents * 3} agents, ${SIZE.tasks * 3} tasks, ${SIZE.kills} kills (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    await home.start();
    const tasks = await createTeams(random);
    const struck: string[] = [];
    while (struck.length < SIZE.kills) {
      const blow = await strike(random);
      if (blow !== 'nobody') struck.push(blow);
      await expectBudgetsKept();
    }
    console.info(`chaos, seed ${SEED}: ${struck.join(', ')}`);
    await allSucceeded(tasks);
    const lines = await readLogs();
    checkAttempts(lines, tasks);
    checkMessages(lines, TEAMS.length * SIZE.tasks * SIZE.messages);
    for (const team of TEAMS) await home.delete('teams', team);
    await vi.waitFor(async () => expect(await home.list('agents')).toEqual([]), WAIT);
  });
});
