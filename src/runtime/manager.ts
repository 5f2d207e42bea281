/**
 * Everything that reconciles in this process, started and stopped together: controllers, sweeps, the garbage collector.
 * With a leader lock it works only while it leads.
 */
import type { Client } from '#client/client.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import type { Controller, Sweep } from './controller.ts';
import { controllerMetrics } from './controller-metrics.ts';
import { eventExpiry } from './event-expiry.ts';
import { EventLog } from './events.ts';
import type { LeaderLock } from './leader.ts';
import { runTerm, type TermDeps } from './term.ts';

export interface ManagerOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly controllers: readonly Controller[];
  readonly sweeps?: readonly Sweep[];
  /** Kinds whose owner references are honoured; no garbage collection when absent. */
  readonly gcKinds?: readonly string[];
  readonly leader?: LeaderLock;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** How often everything is looked at again, changed or not. */
  readonly resyncMs?: number;
  /** How long a stop waits for running passes before it aborts their signal. */
  readonly graceMs?: number;
}

export interface Manager {
  /** Resolves when the signal aborted and everything has ended. Rejects when passes outlive a lost leadership: exit then. */
  start(signal: AbortSignal): Promise<void>;
  /** What keeps it from reconciling; undefined while work that is due gets done. */
  problem(): string | undefined;
}

const RESYNC_MS = 10 * 60 * 1_000;
const GRACE_MS = 30_000;
/** Keys that wait longer than this have been forgotten, not delayed. */
const STALLED_MS = 60_000;

export function createManager({ leader, metrics = new Metrics(), sweeps = [], ...options }: ManagerOptions): Manager {
  const { client, log, clock = systemClock } = options;
  const deps: TermDeps = {
    random: Math.random,
    resyncMs: RESYNC_MS,
    graceMs: GRACE_MS,
    gcKinds: [],
    ...options,
    clock,
    sweeps: [...sweeps, eventExpiry(client)],
    metrics: controllerMetrics(metrics),
    events: new EventLog({ client, log, clock }),
    stalls: new Map(),
  };
  return {
    start: (signal) => (leader ? lead(leader, deps, signal) : work(deps, signal)),
    problem() {
      const stalled = [...deps.stalls].filter(([, stalledMs]) => stalledMs() > STALLED_MS).map(([name]) => name);
      return stalled.length === 0 ? undefined : `nothing was reconciled for 60 s although there is work: ${stalled.join(', ')}`;
    },
  };
}

async function work(deps: TermDeps, signal: AbortSignal): Promise<void> {
  const neverLost = new AbortController().signal;
  await runTerm(deps, signal, neverLost);
}

async function lead(leader: LeaderLock, deps: TermDeps, signal: AbortSignal): Promise<void> {
  for (let leadership = await leader.acquire(signal); leadership; leadership = await leader.acquire(signal)) {
    deps.log.info('leading');
    let ended = false;
    try {
      ended = await runTerm(deps, signal, leadership.lost);
    } finally {
      // A pass may still run: let the lease expire instead of inviting the next leader to meet it.
      if (!ended) leadership.abandon();
    }
    if (!ended) throw new AgentisoError('Internal', 'running passes did not end, so this process must');
    await leadership.release();
  }
}
