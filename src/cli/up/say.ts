/** What `up` says about itself. Pure. */
import type { KindObject } from '#api/meta.ts';
import { shellWord } from '#client/shell-word.ts';
import { type Board, expectedTasks, type Followed, isFinished, isInCircle, isStalled, tasksOn, teamsOn } from '../follow-board.ts';
import { renderBoard } from '../live/render.ts';
import type { OpenDaemon } from './open-daemon.ts';

export function announcement({ url, kubeconfig, isOurs }: Pick<OpenDaemon, 'url' | 'kubeconfig' | 'isOurs'>, home: string): string {
  const who = isOurs ? '' : `, the daemon that already runs on ${home}`;
  return `agentiso up: ${url ?? home}${who}  (in another terminal: export KUBECONFIG=${shellWord(kubeconfig)}; kubectl get tasks)\n`;
}

export interface Ending {
  readonly home: string;
  readonly stays: boolean;
  readonly isOurs: boolean;
  /** Nothing is left to look at. */
  readonly isTemporary: boolean;
  /** What was typed to call this program. */
  readonly command: string;
}

/** The last lines: how it ended, and how to look around. */
export function conclusion(board: Board, ending: Ending): string {
  const { stays, isOurs } = ending;
  const tasks = tasksOn(board);
  const succeeded = tasks.filter(({ status }) => status?.phase === 'Succeeded').length;
  const count = tasks.length === 0 ? 'nothing can go on' : `${succeeded} of ${tasks.length} tasks succeeded`;
  const failed = tasks.filter(({ status }) => status?.phase === 'Failed');
  const circle = tasks.filter(isInCircle);
  const waiting = [...teamsOn(board).filter(isStalled), ...tasks.filter((task) => !isFinished(task) && !isInCircle(task))];
  const result = [
    count,
    ...named('failed', failed),
    ...named('wait for each other in a dependency cycle', circle),
    ...named('cannot go on', waiting),
  ].join('; ');
  if (!stays) return `done: ${result}\n${lookAround(ending)}`;
  return `done: ${result}; ${isOurs ? 'still serving' : 'still watching'}, Ctrl-C ends\n`;
}

function lookAround({ home, isOurs, isTemporary, command }: Ending): string {
  if (isTemporary) return '';
  const at = home === USUAL_HOME ? '' : ` --home ${shellWord(home)}`;
  const first = isOurs ? `${command} serve${at} in one terminal; in another ` : '';
  return `look around: ${first}${command} board${at}, and so messages, why, get tasks, logs\n`;
}

export const USUAL_HOME = '.agentiso';
/** Where lines go on for ever, as in a file. */
const ENDLESS = { columns: 10_000, rows: 10_000 };

/** The board where it is not on the screen already. */
export function boardText(board: Board, now: Date): string {
  return `\n${renderBoard(board, { ...ENDLESS, now, hasColour: false }).join('\n')}\n\n`;
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
  return expectedTasks(objects).size > 0 ? '' : 'no tasks in these files; the agents run until Ctrl-C\n';
}

export function hasTeams(objects: readonly KindObject[]): boolean {
  return objects.some(({ kind }) => kind === 'Team' || kind === 'Task' || kind === 'Agent');
}
