/**
 * Fifty claimants race for the same tasks, by the book, while the controller hands out some of them: each attempt is won once, by one of them,
 * tokens rise, no two hold a task at the same time, and nobody holds more than it has places for.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent, Task } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { isCode } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import type { Controller } from '#runtime/controller.ts';
import { EventLog } from '#runtime/events.ts';
import { createManager } from '#runtime/manager.ts';
import { DirectoryStore } from '#store/directory.ts';
import { fakeAttempts } from '../../controllers/task/attempts.fixture.ts';
import { taskBoards } from '../../controllers/task/boards.ts';
import { createTaskBook } from '../../controllers/task/book.ts';
import { isHeld } from '../../controllers/task/card.ts';
import { taskController } from '../../controllers/task/controller.ts';
import { seededRandom } from '../bench/harness/random.ts';
import { newAgent, newTask } from '../support/controllers.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const CLAIMANTS = 50;
const TASKS = isFull ? 10_000 : 1_000;
/** Two claimants for each agent, which has a place for one: they race for that as well, with each other and with the controller. */
const AGENTS = CLAIMANTS / 2;
const PLACES = 1;
/** Of how many tasks one is chosen: few, so that many want the same. */
const HOT = 8;
/** Every so manyth task is a command, which the controller hands out if nobody claims it before. */
const COMMAND_EVERY = 5;

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'agentiso-claims-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

interface Win {
  readonly winner: string;
  readonly attempt: number;
  readonly token: number;
  readonly fromStep: number;
  toStep: number;
}

it(`${TASKS} tasks, ${CLAIMANTS} claimants, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  const below = (limit: number) => Math.floor(random() * limit);
  const directory = await DirectoryStore.open({ home, kinds, admission, log: silentLogger, freeze: false });
  const client = localClient(directory.store);
  const stopping = new AbortController();
  const attempts = fakeAttempts();
  const boards = taskBoards(client);
  const events = new EventLog({ client, log: silentLogger }).recorder('task');
  const book = createTaskBook({ client, boards, events, canVerify: false });
  const controller = taskController({ client, attempts, boards }) as Controller;
  const manager = createManager({ client, log: silentLogger, metrics: new Metrics(), controllers: [controller], sweeps: [], gcKinds: [] });

  const agents: Agent[] = [];
  for (let index = 0; index < AGENTS; index++) {
    const made = await client.create<Agent>(newAgent(`a-w${index}`, { maxConcurrentTasks: PLACES }));
    const condition = {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Running',
      message: '',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    agents.push(await client.updateStatus<Agent>({ ...made, status: { phase: 'Ready', incarnation: 'run-1', conditions: [condition] } }));
  }
  const names = Array.from({ length: TASKS }, (_, index) => `a-t${String(index).padStart(5, '0')}`);
  await Promise.all(names.map((name, index) => client.create<Task>(newTask(name, index % COMMAND_EVERY === 0 ? {} : { prompt: 'x' }))));

  const problems: string[] = [];
  const holders = new Map<string, string>();
  const held = new Map<string, number>();
  const open = new Set(names);
  // Every version of every task, as the store made it.
  const unsubscribe = directory.store.watch('Task', {}, ({ object }) => {
    const task = object as Task;
    const { name } = task.metadata;
    const before = holders.get(name);
    const now = isHeld(task) ? task.status?.owner : undefined;
    if (task.status?.phase === 'Succeeded') open.delete(name);
    if (before === now) return;
    if (before !== undefined) held.set(before, (held.get(before) ?? 0) - 1);
    holders.delete(name);
    if (now === undefined) return;
    if (before !== undefined) problems.push(`${name} went from ${before} to ${now} without being given back`);
    holders.set(name, now);
    held.set(now, (held.get(now) ?? 0) + 1);
    if ((held.get(now) ?? 0) > PLACES) problems.push(`${now} holds ${held.get(now)} tasks`);
  });

  const wins = new Map<string, Win[]>(names.map((name) => [name, []]));
  let step = 0;
  let lost = 0;
  const work = async (agent: Agent): Promise<void> => {
    const me = { kind: 'agent' as const, agent, incarnation: 'run-1' };
    while (open.size > 0) {
      const hot = [...take(open, HOT)];
      const name = hot[below(hot.length)] ?? '';
      const reference = { namespace: 'default', team: 'a', task: name };
      const answer = await book.claim(me, reference).catch((error: unknown) => {
        // No place, or not to be had at this moment.
        if (!isCode(error, 'Conflict')) throw error;
        return undefined;
      });
      const known = wins.get(name)?.find(({ attempt }) => attempt === answer?.attempt);
      if (known && known.winner !== agent.metadata.name)
        problems.push(`${name}: ${known.winner} and ${agent.metadata.name} have won ${known.attempt}`);
      // Whoever has won hears so as often as it asks: its other claimant works on it already.
      if (!answer?.claimed || known) {
        lost++;
        for (let rest = 1 + below(8); rest > 0; rest--) await tick();
        continue;
      }
      const { attempt = 0, fencing_token: token = 0 } = answer;
      const win: Win = { winner: agent.metadata.name, attempt, token, fromStep: ++step, toStep: Number.POSITIVE_INFINITY };
      wins.get(name)?.push(win);
      for (let rest = below(4); rest > 0; rest--) await tick();
      const isDone = below(4) > 0;
      win.toStep = ++step;
      if (isDone) await book.complete(me, reference, { attempt: win.attempt });
      else await book.release(me, reference);
      const again = book.complete(me, reference, { attempt: win.attempt });
      // What is done is done; what was given back is nobody's.
      if (isDone) expect(await again).toBe('completed');
      else await expect(again).rejects.toMatchObject({ code: 'FenceLost' });
    }
  };
  const running = manager.start(stopping.signal);
  const assigned = new Map<string, number[]>();
  let ended = 0;
  const guests = setInterval(() => {
    for (const run of attempts.runs.slice(ended)) {
      const { name } = run.task.metadata;
      assigned.set(name, [...(assigned.get(name) ?? []), run.attempt]);
      run.end({ exitCode: 0, stdout: '', stderr: '', truncated: false, elapsedSeconds: 0.1 });
    }
    ended = attempts.runs.length;
  }, 2);
  try {
    await Promise.all([...agents, ...agents].map(work));
  } finally {
    clearInterval(guests);
    stopping.abort();
    await running;
    unsubscribe();
    await directory.close();
  }

  for (const name of names) {
    const { status } = directory.store.get({ kind: 'Task', namespace: 'default', name }) as Task;
    const pulled = wins.get(name) ?? [];
    const all = [...pulled.map(({ attempt }) => attempt), ...(assigned.get(name) ?? [])].sort((a, b) => a - b);
    const wanted = Array.from({ length: status?.attempt ?? 0 }, (_, index) => index + 1);
    if (all.join() !== wanted.join()) problems.push(`${name}: attempts ${all.join()} were won, ${wanted.join()} were made`);
    for (const [index, win] of pulled.entries()) {
      const next = pulled[index + 1];
      if (next && (next.token <= win.token || next.fromStep < win.toStep)) problems.push(`${name}: ${JSON.stringify([win, next])}`);
    }
    if (status?.phase !== 'Succeeded') problems.push(`${name} is ${status?.phase}`);
  }
  const won = [...wins.values()].reduce((sum, each) => sum + each.length, 0);
  expect(problems.slice(0, 10)).toEqual([]);
  expect(lost, 'nobody ever lost: that was no race').toBeGreaterThan(won / 10);
  expect(won + assigned.size).toBeGreaterThanOrEqual(TASKS);
});

function* take<T>(items: Iterable<T>, count: number): Iterable<T> {
  let left = count;
  for (const item of items) {
    if (left-- <= 0) return;
    yield item;
  }
}
