/**
 * What the Tasks of agents use of models, counted as answers pass. A total goes on from what the Task's status had when the meter first heard
 * of it, so that it never falls and may be written down any number of times.
 */
import { toSum } from '#api/amounts.ts';
import type { Task } from '#api/types.ts';
import type { Metrics } from '#lib/metrics.ts';
import { costOf, type Prices, priceOf } from './prices.ts';
import { tokensOf, type Usage } from './usage/usage.ts';

export interface Total {
  readonly tokens: number;
  /** Millionths of a dollar. */
  readonly microUsd: number;
  readonly unpricedTokens: number;
}

interface TaskKey {
  readonly kind: 'Task';
  readonly namespace: string;
  readonly name: string;
}

export interface MeterOptions {
  readonly prices: () => Prices;
  readonly metrics: Pick<Metrics, 'counter'>;
}

export class Meter {
  readonly #prices: () => Prices;
  readonly #tokens: ReturnType<Metrics['counter']>;
  readonly #totals = new Map<string, Total>();
  readonly #listeners = new Set<(key: TaskKey) => void>();

  constructor({ prices, metrics }: MeterOptions) {
    this.#prices = prices;
    this.#tokens = metrics.counter('agentiso_provider_tokens_total', 'Tokens of models that agents have used, by provider and kind.');
  }

  readonly wake = (enqueue: (key: TaskKey) => void): (() => void) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  /** `task`: the one the answer was for, as it is now; undefined when the agent has none. */
  count(provider: string, usage: Usage, task: Task | undefined): void {
    for (const kind of ['input', 'cacheRead', 'cacheWrite', 'output'] as const) {
      if (usage[kind] > 0) this.#tokens.inc({ provider, kind }, usage[kind]);
    }
    if (!task) return;
    const { uid, namespace, name } = task.metadata;
    const before = this.#totals.get(uid) ?? writtenTotal(task);
    const price = priceOf(this.#prices(), usage.model);
    const tokens = tokensOf(usage);
    this.#totals.set(uid, {
      tokens: before.tokens + tokens,
      microUsd: before.microUsd + (price ? costOf(usage, price) : 0),
      unpricedTokens: before.unpricedTokens + (price ? 0 : tokens),
    });
    for (const listener of this.#listeners) listener({ kind: 'Task', namespace, name });
  }

  total(taskUid: string): Total | undefined {
    return this.#totals.get(taskUid);
  }

  forget(taskUid: string): void {
    this.#totals.delete(taskUid);
  }
}

function writtenTotal({ status }: Task): Total {
  const used = status?.budget?.used;
  const { tokens, usd } = toSum(used);
  return { tokens, microUsd: usd, unpricedTokens: used?.unpricedTokens ?? 0 };
}
