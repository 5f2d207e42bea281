/** A task controller with agents and guests in memory, and the short ways in which its tests speak of them. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { bench, newAgent, newTask } from '../../test/support/controllers.ts';
import { fakeAttempts } from './attempts.fixture.ts';
import type { Attempts, CommandResult } from './attempts.ts';
import { taskController } from './controller.ts';

export const OK: CommandResult = { exitCode: 0, stdout: 'hi\n', stderr: '', truncated: false, elapsedSeconds: 0.5 };
export const KEY = { kind: 'Task', namespace: 'default', name: 'a-one' };
export const WORKER = { kind: 'Agent', namespace: 'default', name: 'a-worker' };

export function setUp() {
  const world = bench();
  const attempts = fakeAttempts();
  const woken: string[] = [];
  const newController = (using: Attempts = attempts) =>
    taskController({ client: world.client, attempts: using, monotonicMs: () => world.ctx.now().getTime() });
  const controller = newController();
  controller.wakes?.[0]?.(({ name }) => void woken.push(name));
  const task = (name = 'a-one') => world.get<Task>('Task', name);
  let known: readonly KindObject[] = [];
  /** What the runtime does before a pass: it passes on every change. */
  const tell = (using = controller) => {
    const now = ['Agent', 'Task'].flatMap((kind) => world.store.list(kind).items);
    const uids = new Set(now.map(({ metadata }) => metadata.uid));
    const gone = known.filter(({ metadata }) => !uids.has(metadata.uid));
    known = now;
    const toKeys = (object: KindObject, type: 'MODIFIED' | 'DELETED') =>
      using.watches?.find(({ kind }) => kind === object.kind)?.toKeys(object, type) ?? [];
    const keys = [...gone.flatMap((object) => toKeys(object, 'DELETED')), ...now.flatMap((object) => toKeys(object, 'MODIFIED'))];
    return keys.map(({ name }) => name);
  };
  const look = (using = controller, client = world.client) => {
    tell(using);
    return world.reconcile(using, 'Task', 'a-one', { client });
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
  return { ...world, attempts, controller, newController, woken, task, tell, look, setAgent, readyAgent, edit };
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
