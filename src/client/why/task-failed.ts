/** Why a Task failed, and how to have it run again: one that has ended stays as it is. Pure. */
import type { Task } from '#api/types.ts';
import { edit, runAgain } from './commands.ts';
import { type Finding, type Sight, stuck } from './finding.ts';
import { makerOf, type View } from './view.ts';
import { conditionOf, lastLine, wordsOf } from './words.ts';

export function lookAtFailed(task: Task, { view }: Sight): Finding {
  const { reason = '' } = task.status ?? {};
  const because = wordsOf({ reason, message: conditionOf(task, 'Ready')?.message ?? '' });
  const again = runAgain(view, task);
  switch (reason) {
    case 'Cancelled': {
      const wanted = { text: 'if it is wanted after all:', command: again };
      return { ...stuck('is Failed', 'it was cancelled (spec.cancelled is true)', wanted), isWished: true };
    }
    case 'MaxAttempts': {
      const text = `${cureOf(task, because)}, then run it again:`;
      return stuck('is Failed', `${because}${lastWords(task)}`, { text, command: again });
    }
    case 'TooLarge':
      return stuck('is Failed', because, {
        text: 'put the long part into a file of the workspace, then run it again:',
        command: changed(view, task),
      });
    case 'NotSupportedYet':
      return stuck('is Failed', because, { text: 'take out what is named, then run it again:', command: changed(view, task) });
    case 'RequestExpired':
      return stuck('is Failed', because, { text: 'see who could have claimed it, then ask once more:', command: again });
    case 'PlanRejected':
      return stuck('is Failed', because, {
        text: 'say in the task what the plans were missing, then run it again:',
        command: changed(view, task),
      });
    default:
      return stuck('is Failed', `${because}${lastWords(task)}`, { text: 'mend the cause, then run it again:', command: again });
  }
}

function cureOf(task: Task, because: string): string {
  if (isCrowded(task, because)) return FEWER_PROCESSES;
  return asksForCredential(because) ? `${NEEDS_CREDENTIAL} (agentiso backends says how)` : 'mend what made it fail';
}

export const NEEDS_CREDENTIAL = 'give the daemon a credential for the model of its agent';

/** As coding agents say it that have none, or a wrong one. */
export function asksForCredential(words: string): boolean {
  return /authentication required|invalid (?:x-)?api[- ]key|no key is configured for the provider/i.test(words);
}

const FEWER_PROCESSES =
  'no more processes could be started (a workspace may have 512, and the daemon with all agents what pids.max and ulimit -u allow): let it start fewer at once';

/** As the kernel, a shell and Node say it. */
function isCrowded(task: Task, because: string): boolean {
  return /\bEAGAIN\b|[Cc]annot fork|fork: .*Resource temporarily unavailable/.test(`${because}${lastWords(task)}`);
}

/** One that failed its verification tells which command it was and what that printed. */
export function lastWords({ status }: Task): string {
  const { verification, attempt, result } = status ?? {};
  const failed = verification?.attempt === attempt ? verification?.commands?.find(({ exitCode }) => exitCode !== 0) : undefined;
  const said = lastLine(failed?.output) || lastLine(result?.stderr) || lastLine(result?.stdout);
  return said === '' ? '' : `; its last words: ${said}`;
}

function changed(view: View, task: Task): string {
  return `${edit(view, makerOf(view, task) ?? task)} && ${runAgain(view, task)}`;
}
