/** What an agent may still use of a budget of its own. Pure. */
import { DIMENSIONS, inWords, isLimited, toSum } from './amounts.ts';
import { shareOf } from './task-share.ts';
import { ledgerOf, roomFor } from './team-spending.ts';
import type { Agent, Task } from './types.ts';

/** Why this Task cannot be paid from the agent's budget; undefined: it can. */
export function whyUnaffordable(agent: Agent, task: Pick<Task, 'metadata' | 'spec' | 'status'>): string | undefined {
  const ledger = ledgerOf(agent);
  if (!isLimited(ledger.limits)) return undefined;
  const used = toSum(task.status?.budget?.used);
  const share = shareOf(task, [{ ...ledger, whose: `agent ${agent.metadata.name}` }], { used, before: used });
  return 'short' in share ? share.short : undefined;
}

/** `budget.tokens is 100 tokens: 90 tokens are used, 10 tokens set aside for a-one`; undefined: something is left of everything. */
export function exhaustionOf(agent: Agent): string | undefined {
  const ledger = ledgerOf(agent);
  const { limits, used, claims } = ledger;
  const room = roomFor(ledger, '');
  const over = DIMENSIONS.find((dimension) => (room[dimension] ?? 1) < 1);
  if (over === undefined) return undefined;
  const aside = claims.map(({ task, reserved }) => `, ${inWords(over, reserved[over] ?? 0)} set aside for ${task}`);
  return `budget.${over} is ${inWords(over, limits[over] ?? 0)}: ${inWords(over, used[over])} are used${aside.join('')}`;
}
