/** Changes of specs at a steady rate, and how long each takes until its object says that it was reconciled. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { FleetWatch } from '../../support/simulated-fleet-watch.ts';
import type { Random } from '../harness/random.ts';

export interface ChangeLoad {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Of ten changes; the rest are of Tasks, of which a home has most. */
const TEAMS_OF_TEN = 1;
const AGENTS_OF_TEN = 2;
const TICK_MS = 10;
const LAST_MS = 10_000;
const LARGEST = 5;

/** Milliseconds from the wish to change until status.observedGeneration has reached the change, one entry for each change. */
export async function changeSpecs(client: Client, watch: FleetWatch, load: ChangeLoad, random: Random): Promise<number[]> {
  const pools = await Promise.all(['Team', 'Agent', 'Task'].map(async (kind) => (await client.list(kind)).items));
  const waiting = new Map<string, { readonly generation: number; readonly sinceMs: number }>();
  const took: number[] = [];
  const unsubscribe = watch.onObject(({ metadata, status }) => {
    const wanted = waiting.get(metadata.uid);
    if (!wanted || ((status as Team['status'])?.observedGeneration ?? 0) < wanted.generation) return;
    waiting.delete(metadata.uid);
    took.push(performance.now() - wanted.sinceMs);
  });
  const change = async () => {
    const dice = random() * 10;
    const pool = pools[dice < TEAMS_OF_TEN ? 0 : dice < TEAMS_OF_TEN + AGENTS_OF_TEN ? 1 : 2] ?? [];
    const picked = pool[Math.floor(random() * pool.length)];
    if (!picked || waiting.has(picked.metadata.uid)) return;
    await changeOne(client, picked, (generation, sinceMs) => waiting.set(picked.metadata.uid, { generation, sinceMs }));
  };
  const startMs = performance.now();
  for (let made = 0; made < load.perSecond * load.seconds; ) {
    const due = Math.floor(((performance.now() - startMs) / 1_000) * load.perSecond);
    for (; made < Math.min(due, load.perSecond * load.seconds); made += 1) void change();
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  for (const deadline = performance.now() + LAST_MS; waiting.size > 0 && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  unsubscribe();
  if (waiting.size > 0) throw new Error(`${waiting.size} changes were not reconciled within ${LAST_MS / 1_000} s`);
  return took;
}

/** Somebody else may be faster; then it is no change of ours. `begun` is called before the change can be seen. */
async function changeOne(client: Client, picked: KindObject, begun: (generation: number, sinceMs: number) => void): Promise<void> {
  const { kind, metadata } = picked;
  const current = await client.get<KindObject>({ kind, namespace: metadata.namespace, name: metadata.name });
  begun(current.metadata.generation + 1, performance.now());
  try {
    await client.update({ ...current, spec: changed(current) });
  } catch (error) {
    if (!isCode(error, 'Conflict')) throw error;
    await changeOne(client, picked, begun);
  }
}

/** Something that its controller has to look at and that concerns no other object. */
function changed(object: KindObject): object {
  const next = (value = 0) => (value % LARGEST) + 1;
  if (object.kind === 'Team') {
    const { spec } = object as Team;
    return { ...spec, terminationGracePeriodSeconds: 30 + next(spec.terminationGracePeriodSeconds - 30) };
  }
  if (object.kind === 'Agent') {
    const { spec } = object as Agent;
    return { ...spec, maxConcurrentTasks: next(spec.maxConcurrentTasks) };
  }
  const { spec } = object as Task;
  return { ...spec, priority: next(spec.priority) };
}
