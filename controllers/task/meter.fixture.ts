/** A meter that counts what a test says. */
import type { Task } from '#api/types.ts';
import type { Key } from '#runtime/controller.ts';
import type { Spent, SpentMeter } from './budgets.ts';

export function fakeMeter() {
  const totals = new Map<string, Spent>();
  const listeners = new Set<(key: Key) => void>();
  const meter: SpentMeter = {
    total: (uid) => totals.get(uid),
    forget: (uid) => void totals.delete(uid),
    wake: (enqueue) => {
      listeners.add(enqueue);
      return () => listeners.delete(enqueue);
    },
  };
  const count = (task: Task | undefined, tokens: number, microUsd = 0) => {
    const uid = task?.metadata.uid ?? '';
    const before = totals.get(uid) ?? { tokens: 0, microUsd: 0, unpricedTokens: 0 };
    totals.set(uid, { ...before, tokens: before.tokens + tokens, microUsd: before.microUsd + microUsd });
  };
  return { meter, count };
}
