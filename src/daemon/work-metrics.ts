/** What is counted of teams and their work. */
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Labels, Metrics } from '#lib/metrics.ts';
import type { Network } from '#network/network.ts';
import type { Store } from '#store/store.ts';
import type { ExecListener } from './agents/agent-io.ts';

export interface WorkMetricsOptions {
  readonly metrics: Metrics;
  readonly store: Pick<Store, 'list'>;
  readonly network: Pick<Network, 'onDrift'>;
}

const NOTHING_YET = 'Pending';

export function workMetrics({ metrics, store, network }: WorkMetricsOptions): { readonly onExec: ExecListener } {
  const listed = <T>(kind: string) => store.list(kind).items as readonly T[];
  metrics.sampled('agentiso_workspaces', 'Agents by the phase of their workspace, and the driver it really has.', () =>
    counted(listed<Agent>('Agent'), ({ spec, status }) => ({
      phase: status?.phase ?? NOTHING_YET,
      driver: status?.isolation?.driver ?? spec.isolation?.driver ?? 'auto',
    })),
  );
  metrics.sampled('agentiso_teams', 'Teams by phase.', () =>
    counted(listed<Team>('Team'), ({ status }) => ({ phase: status?.phase ?? 'Creating' })),
  );
  metrics.sampled('agentiso_tasks', 'Tasks by phase.', () =>
    counted(listed<Task>('Task'), ({ status }) => ({ phase: status?.phase ?? NOTHING_YET })),
  );
  const drifts = metrics.counter('agentiso_nft_drift_total', 'How often network rules were not as they should be, and were restored.');
  // For as long as the daemon lives.
  network.onDrift(() => drifts.inc());
  const execs = metrics.counter('agentiso_exec_total', 'Commands that people and tools ran in workspaces, by how they ended.');
  const durations = metrics.histogram('agentiso_exec_duration_seconds', 'How long commands in workspaces took.');
  return {
    onExec(outcome, elapsedMs) {
      execs.inc({ result: resultOf(outcome?.exitCode) });
      durations.observe(elapsedMs / 1_000);
    },
  };
}

function resultOf(exitCode: number | undefined): string {
  if (exitCode === undefined) return 'lost';
  return exitCode === 0 ? 'ok' : 'failed';
}

function counted<T>(objects: readonly T[], labelsOf: (object: T) => Labels): Iterable<readonly [Labels, number]> {
  const found = new Map<string, [Labels, number]>();
  for (const object of objects) {
    const labels = labelsOf(object);
    const id = Object.values(labels).join('\n');
    const entry = found.get(id) ?? [labels, 0];
    entry[1] += 1;
    found.set(id, entry);
  }
  return found.values();
}

const OVER: readonly (string | undefined)[] = ['Merged', 'Conflicted', 'Failed'];

/** What changes of objects tell: how merges ended, and how long workspaces took to start. Call `seen` with every change, in order. */
export class Transitions {
  readonly #merges;
  readonly #mergeDurations;
  readonly #boots;
  /** Uid → what it was. */
  readonly #phases = new Map<string, string | undefined>();
  /** Uid → since when its workspace starts. */
  readonly #starting = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(metrics: Pick<Metrics, 'counter' | 'histogram'>, nowMs: () => number = () => performance.now()) {
    this.#merges = metrics.counter('agentiso_merges_total', 'Merges that came to an end, by how.');
    this.#mergeDurations = metrics.histogram('agentiso_merge_duration_seconds', 'From the beginning of a merge to its end.');
    this.#boots = metrics.histogram(
      'agentiso_boot_duration_seconds',
      'From the wish for a workspace to an agent that is ready, by driver.',
    );
    this.#nowMs = nowMs;
  }

  /** What there was before: nothing has happened to it yet. */
  known(object: Agent | Merge): void {
    this.#phases.set(object.metadata.uid, object.status?.phase);
  }

  gone({ metadata }: Agent | Merge): void {
    this.#phases.delete(metadata.uid);
    this.#starting.delete(metadata.uid);
  }

  seen(object: Agent | Merge): void {
    const isSame = this.#phases.has(object.metadata.uid) && this.#phases.get(object.metadata.uid) === object.status?.phase;
    this.known(object);
    if (isSame) return;
    if (object.kind === 'Merge') this.#mergeChanged(object);
    else this.#agentChanged(object);
  }

  #mergeChanged({ status }: Merge): void {
    const { phase, startedAt, finishedAt } = status ?? {};
    if (phase === undefined || !OVER.includes(phase)) return;
    this.#merges.inc({ phase });
    const tookMs = Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '');
    if (tookMs >= 0) this.#mergeDurations.observe(tookMs / 1_000);
  }

  #agentChanged({ metadata: { uid }, status }: Agent): void {
    const phase = status?.phase ?? NOTHING_YET;
    if (phase === 'Pending' || phase === 'Starting') {
      if (!this.#starting.has(uid)) this.#starting.set(uid, this.#nowMs());
      return;
    }
    const sinceMs = this.#starting.get(uid);
    this.#starting.delete(uid);
    if (sinceMs === undefined || (phase !== 'Ready' && phase !== 'Working')) return;
    this.#boots.observe((this.#nowMs() - sinceMs) / 1_000, { driver: status?.isolation?.driver ?? 'unknown' });
  }
}

type Followed = Agent | Merge;

/** Until the signal. Whoever counts too slowly counts on from what there is. */
export async function followTransitions(
  client: Pick<Client, 'list' | 'watch'>,
  transitions: Transitions,
  signal: AbortSignal,
): Promise<void> {
  const follow = async (kind: Followed['kind']) => {
    while (!signal.aborted) {
      const { items, resourceVersion } = await client.list<Followed>(kind);
      for (const object of items) transitions.known(object);
      await pass(client.watch<Followed>(kind, { resourceVersion, signal }), transitions);
    }
  };
  await Promise.all((['Agent', 'Merge'] as const).map(follow));
}

async function pass(events: AsyncIterable<WatchEvent<Followed>>, transitions: Transitions): Promise<void> {
  try {
    for await (const { type, object } of events) {
      if (type === 'DELETED') transitions.gone(object);
      else transitions.seen(object);
    }
  } catch (error) {
    if (!isCode(error, 'Expired')) throw error;
  }
}
