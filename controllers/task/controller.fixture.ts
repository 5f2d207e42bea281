/** A task controller with agents and guests in memory, and the short ways in which its tests speak of them. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Notice } from '#relay/notices.ts';
import { bench, newAgent, newTask } from '../../test/support/controllers.ts';
import { fakeAttempts } from './attempts.fixture.ts';
import type { Attempts, CommandResult } from './attempts.ts';
import { taskBoards } from './boards.ts';
import { createTaskBook } from './book.ts';
import { Budgets } from './budgets.ts';
import { type TaskDeps, taskController } from './controller.ts';

export const OK: CommandResult = { exitCode: 0, stdout: 'hi\n', stderr: '', truncated: false, elapsedSeconds: 0.5 };
export const KEY = { kind: 'Task', namespace: 'default', name: 'a-one' };
export const WORKER = { kind: 'Agent', namespace: 'default', name: 'a-worker' };

/** Mail as it is promised: what has the same key is there once. */
function fakeNotices() {
  const told = new Map<string, Notice>();
  return {
    told,
    tell: async (notice: Notice) => void (told.has(notice.key) || told.set(notice.key, notice)),
    withdraw: async ({ key }: Pick<Notice, 'key'>) => void told.delete(key),
    /** `type to: content` of what came since this was last asked. */
    news(): string[] {
      const news = [...told.values()].slice(read).map(({ type, to, content }) => `${type} ${to}: ${content.split('\n')[0]}`);
      read = told.size;
      return news;
    },
  };
}
let read = 0;

export function setUp(deps: Partial<TaskDeps> = {}) {
  read = 0;
  const world = bench();
  const attempts = fakeAttempts();
  const notices = fakeNotices();
  const boards = taskBoards(world.client);
  const budgets = new Budgets(world.client, deps.meter);
  const woken: string[] = [];
  const newController = (using: Attempts = attempts, its = taskBoards(world.client)) => {
    const { client, ctx } = world;
    const monotonicMs = () => ctx.now().getTime();
    // Tests say what runs; those of quick commands ask for them.
    return taskController({ client, attempts: using, notices, boards: its, budgets, monotonicMs, quickMs: 0, ...deps });
  };
  const controller = newController(attempts, boards);
  const { client, ctx } = world;
  const book = createTaskBook({ client, boards, budgets, events: ctx.events, canVerify: deps.verifier !== undefined, now: ctx.now });
  controller.wakes?.[0]?.(({ name }) => void woken.push(name));
  const task = (name = 'a-one') => world.get<Task>('Task', name);
  let known: readonly KindObject[] = [];
  /** What the runtime does before a pass: it passes on every change. */
  const tell = (using = controller) => {
    const now = ['Agent', 'Task', 'Team'].flatMap((kind) => world.store.list(kind).items);
    const uids = new Set(now.map(({ metadata }) => metadata.uid));
    const gone = known.filter(({ metadata }) => !uids.has(metadata.uid));
    known = now;
    const toKeys = (object: KindObject, type: 'MODIFIED' | 'DELETED') =>
      using.watches?.find(({ kind }) => kind === object.kind)?.toKeys(object, type) ?? [];
    const keys = [...gone.flatMap((object) => toKeys(object, 'DELETED')), ...now.flatMap((object) => toKeys(object, 'MODIFIED'))];
    return keys.map(({ name }) => name);
  };
  const look = (using = controller, client = world.client, name = 'a-one') => {
    tell(using);
    return world.reconcile(using, 'Task', name, { client });
  };
  const lookAt = (name: string) => look(controller, world.client, name);
  /** The run of an agent that speaks. */
  const as = (name: string, incarnation = 'run-1') => {
    const agent = world.get<Agent>('Agent', name);
    if (!agent) throw new Error(`there is no agent ${name}`);
    return { kind: 'agent' as const, agent, incarnation };
  };
  const setAgent = async (name: string, status: JsonObject, workspace = 'Running') => {
    const agent = world.get<Agent>('Agent', name) as Agent;
    const isReady = status['phase'] === 'Ready' ? ('True' as const) : ('False' as const);
    const condition = { status: isReady, reason: workspace, message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
    const conditions = ['Ready', 'WorkspaceReady'].map((type) => ({ ...condition, type }));
    return world.client.updateStatus<Agent>({ ...agent, status: { ...agent.status, ...status, conditions } });
  };
  const readyAgent = async (name: string, spec: JsonObject = {}) => {
    await world.client.create<Agent>(newAgent(name, spec));
    return setAgent(name, { phase: 'Ready', incarnation: 'run-1' });
  };
  const edit = async (spec: JsonObject) => {
    const now = task() as Task;
    await world.client.update<Task>({ ...now, spec: { ...now.spec, ...spec } });
  };
  return {
    ...world,
    attempts,
    notices,
    boards,
    book,
    as,
    controller,
    newController,
    woken,
    task,
    tell,
    look,
    lookAt,
    setAgent,
    readyAgent,
    edit,
  };
}

export const ONE = { namespace: 'default', team: 'a', task: 'one' };
export const PEOPLE = { kind: 'operator' as const, user: 'ann' };

/** A prompt that a-worker has claimed by the book. */
export async function pulled(spec: JsonObject = {}, deps: Partial<TaskDeps> = {}) {
  const world = setUp(deps);
  await world.readyAgent('a-worker');
  await world.client.create<Task>(newTask('a-one', { prompt: 'do it', ...spec }));
  await world.look();
  const answer = await world.book.claim(world.as('a-worker'), ONE);
  await world.look();
  return { ...world, answer };
}

export async function running(spec: JsonObject = {}) {
  const world = setUp();
  await world.readyAgent('a-worker');
  await world.client.create<Task>(newTask('a-one', spec));
  await world.look();
  await world.look();
  const [run] = world.attempts.runs;
  if (!run) throw new Error('nothing was handed over');
  return { ...world, run };
}
