/** Why a Task failed, and how to have it run again: one that has ended stays as it is. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { changeTask, edit, runAgain } from './commands.ts';
import { type Advice, type Finding, type Sight, stuck } from './finding.ts';
import { makerOf, type View } from './view.ts';
import { conditionOf, lastLine, wordsOf } from './words.ts';

export function lookAtFailed(task: Task, { view }: Sight): Finding {
  const { reason = '' } = task.status ?? {};
  const condition = conditionOf(task, 'Ready');
  const because = wordsOf({ reason, message: condition?.message ?? '' });
  switch (reason) {
    case 'Cancelled':
      return { ...stuck('is Failed', 'it was cancelled (spec.cancelled is true)', afterAll(view, task)), isWished: true };
    case 'MaxAttempts':
      return stuck('is Failed', `${because}${lastWords(task)}`, {
        text: 'mend what made it fail, then run it again:',
        command: runAgain(view, task),
      });
    case 'TooLarge':
      return stuck('is Failed', because, {
        text: 'put the long part into a file of the workspace, then run it again:',
        command: changed(view, task),
      });
    case 'NotSupportedYet':
      return stuck('is Failed', because, { text: 'take out what is named, then run it again:', command: changed(view, task) });
    default:
      return stuck('is Failed', `${because}${lastWords(task)}`, {
        text: 'mend the cause, then run it again:',
        command: runAgain(view, task),
      });
  }
}

export function lastWords({ status }: Task): string {
  const said = lastLine(status?.result?.stderr) || lastLine(status?.result?.stdout);
  return said === '' ? '' : `; its last words: ${said}`;
}

function changed(view: View, task: Task): string {
  return `${edit(view, makerOf(view, task) ?? task)} && ${runAgain(view, task)}`;
}

function afterAll(view: View, task: Task): Advice {
  const team = makerOf(view, task);
  const entry = team?.spec.tasks?.find(({ name }) => name === shortName(team.metadata.name, task.metadata.name));
  const isMadeWell = entry !== undefined && entry.cancelled !== true;
  const command = isMadeWell ? runAgain(view, task) : `${changeTask(view, task, { cancelled: false })} && ${runAgain(view, task)}`;
  return { text: 'if it is wanted after all:', command };
}
