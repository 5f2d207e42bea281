/** One term of work: controllers, sweeps and the collector over shared watches, from the start to the last ended pass. */
import { setMaxListeners } from 'node:events';
import type { Client } from '#client/client.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Controller, Sweep } from './controller.ts';
import { ControllerLoop } from './controller-loop.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { EventLog } from './events.ts';
import { GarbageCollector } from './gc.ts';
import { aborted, settlesWithin } from './sleep.ts';
import { runSource, type SourceEvent } from './source.ts';
import { runSweep } from './sweep-loop.ts';
import { Turn } from './turn.ts';

export interface TermDeps {
  readonly client: Client;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly controllers: readonly Controller[];
  readonly sweeps: readonly Sweep[];
  readonly gcKinds: readonly string[];
  readonly metrics: ControllerMetrics;
  readonly events: EventLog;
  readonly resyncMs: number;
  readonly graceMs: number;
  /** By controller, for how long it has left keys waiting; filled by each term. */
  readonly stalls: Map<string, () => number>;
}

/** Takes keys from events, works them off, and can be told to take no more. */
interface Loop {
  readonly kinds: readonly string[];
  onEvent(event: SourceEvent): void;
  run(passSignal: AbortSignal): Promise<void>;
  stop(): void;
}

/** What a pass gets to react to its aborted signal. */
const SETTLE_MS = 5_000;

/**
 * `stop` ends it gracefully, `lost` at once: who no longer leads must not act.
 * Resolves to false when passes outlived both the grace and their aborted signal. Rejects when a part broke, which is a bug of ours.
 */
export async function runTerm(deps: TermDeps, stop: AbortSignal, lost: AbortSignal): Promise<boolean> {
  const stopping = new AbortController();
  // All sweeps and sources wait for it, however many they are.
  setMaxListeners(0, stopping.signal);
  const passes = new AbortController();
  const loops = createLoops(deps);
  const work = Promise.all([
    ...loops.map((loop) => loop.run(passes.signal)),
    ...deps.sweeps.map((sweep) => runSweep(sweep, { ...deps, stopping: stopping.signal, passSignal: passes.signal })),
    ...sharedKinds(loops).map((kind) => runSource({ ...deps, kind, onEvent: fanOut(kind, loops) }, stopping.signal)),
  ]);
  const failures: unknown[] = [];
  await Promise.race([aborted(stop, lost), work.catch((error) => failures.push(error))]);
  for (const loop of loops) loop.stop();
  stopping.abort();
  const inGrace = await settlesWithin(work, deps.graceMs, lost);
  if (!inGrace) passes.abort();
  const ended = inGrace || (await settlesWithin(work, SETTLE_MS));
  if (!ended) deps.log.error('running passes did not end');
  await settlesWithin(deps.events.flush(), SETTLE_MS);
  if (failures.length > 0) throw failures[0];
  return ended;
}

function createLoops(deps: TermDeps): Loop[] {
  const { controllers, gcKinds, events } = deps;
  const turn = new Turn();
  const loops: Loop[] = controllers.map((controller) => {
    const loop = new ControllerLoop({ ...deps, turn, controller, events: events.recorder(controller.name) });
    deps.stalls.set(controller.name, () => loop.stalledMs);
    return loop;
  });
  if (gcKinds.length > 0) loops.push(new GarbageCollector({ ...deps, turn, kinds: gcKinds }));
  return loops;
}

function sharedKinds(loops: readonly Loop[]): string[] {
  return [...new Set(loops.flatMap((loop) => loop.kinds))];
}

function fanOut(kind: string, loops: readonly Loop[]): (event: SourceEvent) => void {
  const listeners = loops.filter((loop) => loop.kinds.includes(kind));
  return (event) => {
    for (const loop of listeners) loop.onEvent(event);
  };
}
