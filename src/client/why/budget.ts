/** A Task that may not use any more: whose budget it is, and how to raise it. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { edit } from './commands.ts';
import { type Finding, type Sight, stuck } from './finding.ts';
import { findTeam, makerOf } from './view.ts';

/** As the task controller words it. */
const OF_TEAM = /budget\.\w+ of team (\S+) is/;

export function lookAtShort(
  task: Task,
  says: string,
  { because, view }: { readonly because: string; readonly view: Sight['view'] },
): Finding {
  const [, name] = OF_TEAM.exec(because) ?? [];
  const team: KindObject | undefined = name === undefined ? undefined : findTeam(view, name);
  const text = team ? `raise its budget, or wait until other tasks give some of it back:` : `raise the task's budget:`;
  return stuck(says, because, { text, command: edit(view, team ?? makerOf(view, task) ?? task) });
}
