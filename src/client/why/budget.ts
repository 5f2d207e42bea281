/** A Task or an Agent that may not use any more: whose budget it is, and how to raise it. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import { edit, raiseBudget } from './commands.ts';
import { type Advice, type Finding, leadingTo, type Sight, stuck } from './finding.ts';
import { findAgent, findTeam, makerOf } from './view.ts';
import { conditionOf, idOf, listed } from './words.ts';

/** As the task controller words it. */
const WHOSE = /budget\.\w+ of (team|agent) (\S+) is/;
const DIMENSION = /budget\.(tokens|usd|seconds)/;

export function lookAtShort(
  task: Task,
  says: string,
  { because, view }: { readonly because: string; readonly view: Sight['view'] },
): Finding {
  const [, kind, name = ''] = WHOSE.exec(because) ?? [];
  const agent = kind === 'agent' ? findAgent(view, name) : undefined;
  if (agent) return stuck(says, because, raising(agent, because, view));
  const team: KindObject | undefined = kind === 'team' ? findTeam(view, name) : undefined;
  const text = team ? `raise its budget, or wait until other tasks give some of it back:` : `raise the task's budget:`;
  return stuck(says, because, { text, command: edit(view, team ?? makerOf(view, task) ?? task) });
}

/** Undefined: it has something left. */
export function lookAtExhausted(agent: Agent, { view }: Sight): Finding | undefined {
  const exhausted = conditionOf(agent, 'BudgetExhausted');
  if (exhausted?.status !== 'True') return undefined;
  const held = view.heldBy(agent);
  const frozen = held.filter((task) => conditionOf(task, 'Frozen')?.status === 'True');
  // What is set aside for a Task that runs may come back.
  if (held.length > frozen.length) return leadingTo(held, 'gets no new tasks', exhausted.message);
  const says = frozen.length > 0 ? `is frozen, with ${listed(frozen.map(idOf))}` : 'gets no new tasks';
  return stuck(says, exhausted.message, raising(agent, exhausted.message, view));
}

function raising(agent: Agent, because: string, view: Sight['view']): Advice {
  const [, dimension] = DIMENSION.exec(because) ?? [];
  return { text: 'raise its budget, for example to twice as much:', command: raiseBudget(view, agent, dimension ?? 'tokens') };
}
