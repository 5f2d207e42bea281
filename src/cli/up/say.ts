/** What `up` says about itself. Pure. */
import type { KindObject } from '#api/meta.ts';
import { shellWord } from '#client/shell-word.ts';
import { type Board, expectedTasks, type Followed, isFinished, isStalled, tasksOn, teamsOn } from '../follow-board.ts';
import type { OpenDaemon } from './open-daemon.ts';

export function announcement({ url, kubeconfig, isOurs }: Omit<OpenDaemon, 'client' | 'close'>, home: string): string {
  const who = isOurs ? '' : `, the daemon that already runs on ${home}`;
  return `agentiso up: ${url ?? home}${who}  (in another terminal: export KUBECONFIG=${shellWord(kubeconfig)}; kubectl get tasks)\n`;
}

export function conclusion(board: Board, { stays, isOurs }: { readonly stays: boolean; readonly isOurs: boolean }): string {
  const tasks = tasksOn(board);
  const succeeded = tasks.filter(({ status }) => status?.phase === 'Succeeded').length;
  const count = tasks.length === 0 ? 'nothing can go on' : `${succeeded} of ${tasks.length} tasks succeeded`;
  const failed = tasks.filter(({ status }) => status?.phase === 'Failed');
  const waiting = [...teamsOn(board).filter(isStalled), ...tasks.filter((task) => !isFinished(task))];
  const result = [count, ...named('failed', failed), ...named('cannot go on', waiting)].join('; ');
  if (!stays) return `done: ${result}\n`;
  return `done: ${result}; ${isOurs ? 'still serving' : 'still watching'}, Ctrl-C ends\n`;
}

const MOST_NAMED = 10;

/** `failed: task/a, task/b`; nothing for nobody. */
function named(what: string, objects: readonly Followed[]): string[] {
  if (objects.length === 0) return [];
  const names = objects.slice(0, MOST_NAMED).map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  const rest = objects.length - names.length;
  return [`${what}: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`];
}

/** What `up` has nothing to follow of, or has to follow without an end; empty when there are tasks. */
export function beforehand(objects: readonly KindObject[], stays: boolean): string {
  if (!hasTeams(objects)) return stays ? '' : 'nothing to run: there is no team, agent or task in these files\n';
  return expectedTasks(objects).size > 0 || stays ? '' : 'no tasks in these files; the agents run until Ctrl-C\n';
}

export function hasTeams(objects: readonly KindObject[]): boolean {
  return objects.some(({ kind }) => kind === 'Team' || kind === 'Task' || kind === 'Agent');
}
