/** How much is set aside for a Task, from its own budget and the ledgers of the agent and the teams it counts in. Pure. */
import { type Amounts, DIMENSIONS, type Dimension, inWords, type Sum, toAmounts } from './amounts.ts';
import { timeoutSecondsOf } from './task-timeout.ts';
import { type Ledger, roomFor } from './team-spending.ts';
import type { Task } from './types.ts';

/** A Task without a budget of its own is given so much of the smallest limit at a time, and more when it has used that. */
const PART = 10;

export interface NamedLedger extends Ledger {
  /** `team docs`, `agent docs-writer` */
  readonly whose: string;
}

/** `cap`: what the Task may have used in all when this is used up. */
export type Share = { readonly cap: Amounts } | { readonly short: string };

export interface Standing {
  /** By all attempts so far. */
  readonly used: Sum;
  /** When the present claim began. */
  readonly before: Sum;
}

export function shareOf(task: Pick<Task, 'metadata' | 'spec'>, ledgers: readonly NamedLedger[], standing: Standing): Share {
  const own = toAmounts(task.spec.budget);
  const cap: Partial<Record<Dimension, number>> = {};
  for (const dimension of DIMENSIONS) {
    const limited = ledgers.filter(({ limits }) => limits[dimension] !== undefined);
    if (own[dimension] === undefined && limited.length === 0) continue;
    const more = moreOf(task, dimension, limited, standing);
    if (typeof more === 'string') return { short: more };
    cap[dimension] = standing.used[dimension] + more;
  }
  return { cap };
}

/** A number, or why there is none. */
function moreOf(
  task: Pick<Task, 'metadata' | 'spec'>,
  dimension: Dimension,
  limited: readonly NamedLedger[],
  standing: Standing,
): number | string {
  const own = toAmounts(task.spec.budget)[dimension];
  const used = standing.used[dimension];
  if (own !== undefined && own <= used) {
    return `it has used ${inWords(dimension, used)}, and its budget.${dimension} is ${inWords(dimension, own)}`;
  }
  const wanted = own === undefined ? usualShare(task, dimension, limited) : own - used;
  for (const ledger of limited) {
    const room = (roomFor(ledger, task.metadata.uid)[dimension] ?? 0) - (used - standing.before[dimension]);
    const enough = own === undefined ? 1 : wanted;
    if (room < enough) return shortage(ledger, dimension, enough, room);
  }
  const rooms = limited.map((ledger) => (roomFor(ledger, task.metadata.uid)[dimension] ?? 0) - (used - standing.before[dimension]));
  return Math.min(wanted, ...rooms);
}

/** Of time, what one attempt may take at most. */
function usualShare({ spec }: Pick<Task, 'spec'>, dimension: Dimension, limited: readonly NamedLedger[]): number {
  if (dimension === 'seconds') return timeoutSecondsOf(spec);
  const smallest = Math.min(...limited.map(({ limits }) => limits[dimension] ?? Number.POSITIVE_INFINITY));
  return Math.max(1, Math.ceil(smallest / PART));
}

function shortage({ whose, limits }: NamedLedger, dimension: Dimension, wanted: number, room: number): string {
  const limit = inWords(dimension, limits[dimension] ?? 0);
  const left = room < 1 ? 'nothing is left' : `${inWords(dimension, room)} are left, and it needs ${inWords(dimension, wanted)}`;
  return `the budget.${dimension} of ${whose} is ${limit}: ${left}`;
}
