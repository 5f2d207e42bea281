/** The board as rows of cells: teams, each with its agents and tasks. Pure. */
import { type Agent, type Merge, shortName, type Task, type Team } from '#api/types.ts';
import { humanDuration } from '#lib/age.ts';
import { toCell } from '#lib/escape.ts';
import {
  agentsOn,
  type Board,
  isFinished,
  isPremature,
  isStalled,
  mergesOn,
  readyOf,
  tasksOn,
  teamOf,
  teamsOn,
  waitingFor,
} from '../follow-board.ts';

export interface Row {
  readonly kind: 'team' | 'agent' | 'task' | 'merge';
  readonly name: string;
  readonly phase: string;
  /** How long it has run, or ran. */
  readonly time: string;
  /** Who has it, or what it has. */
  readonly with: string;
  readonly note: string;
}

export function rowsOf(board: Board, now: Date): readonly Row[] {
  const [agents, tasks, teams, merges] = [agentsOn(board), tasksOn(board), teamsOn(board), mergesOn(board)];
  // What belongs to a team that is not there is shown all the same.
  const names = new Set([...teams, ...agents, ...tasks].map(teamOf));
  return [...names].sort(compare).flatMap((name) => {
    const isIn = (object: Agent | Task | Merge) => teamOf(object) === name;
    const own = tasks.filter(isIn).sort(byAge);
    const members = agents.filter(isIn).sort(byName);
    const team = teams.find((each) => teamOf(each) === name);
    const isEarly = (task: Task) => team !== undefined && isPremature(task, board);
    return [
      teamRow(name, team, own),
      ...members.map((agent) => agentRow(agent, own)),
      ...own.map((task) => taskRow(task, isEarly(task), now)),
      ...merges.filter(isIn).sort(byName).map(mergeRow),
    ];
  });
}

function teamRow(name: string, team: Team | undefined, tasks: readonly Task[]): Row {
  const row = { kind: 'team', name: name.replace(/^default\//, ''), time: '', with: '' } as const;
  if (team && isStalled(team)) return { ...row, phase: 'Stalled', note: toCell(readyOf(team)?.message) };
  const done = tasks.filter(isFinished).length;
  const note = tasks.length === 0 ? '' : `${done} of ${tasks.length} tasks done`;
  const { phase = '' } = team?.status ?? {};
  // The tasks are ahead of what their team says of them.
  const isAtRest = phase === 'Working' && done === tasks.length;
  return { ...row, phase: isAtRest ? 'Ready' : phase, note: team ? note : 'no such team' };
}

function agentRow(agent: Agent, tasks: readonly Task[]): Row {
  const { name } = agent.metadata;
  const { phase = 'Pending' } = agent.status ?? {};
  const held = tasks.filter(({ status }) => status?.owner === name && (status.phase === 'Running' || status.phase === 'Claimed'));
  const ready = readyOf(agent);
  return {
    kind: 'agent',
    name: shortName(agent.spec.team, name),
    phase: workPhase(phase, held.length > 0),
    time: '',
    with: held.map((task) => shortName(task.spec.team, task.metadata.name)).join(', '),
    note: ready?.status === 'False' ? toCell(ready.message) : '',
  };
}

function workPhase(phase: string, isWorking: boolean): string {
  return phase === 'Ready' || phase === 'Working' ? (isWorking ? 'Working' : 'Ready') : phase;
}

function taskRow(task: Task, isEarly: boolean, now: Date): Row {
  const { phase = 'Pending', owner = '' } = task.status ?? {};
  const isHeld = phase !== 'Pending' && phase !== 'Blocked';
  return {
    kind: 'task',
    name: shortName(task.spec.team, task.metadata.name),
    phase,
    time: timeOf(task, now),
    with: isHeld ? shortName(task.spec.team, owner) : '',
    note: isEarly ? '' : noteOf(task),
  };
}

function mergeRow(merge: Merge): Row {
  const { phase = 'Pending', waitsFor, totalCommitsApplied } = merge.status ?? {};
  const isBad = phase === 'Failed' || phase === 'Conflicted';
  const commits = phase === 'Merged' ? `${totalCommitsApplied ?? 0} commits` : '';
  return {
    kind: 'merge',
    name: shortName(merge.spec.team, merge.metadata.name),
    phase,
    time: '',
    with: merge.spec.target.branch ?? merge.spec.target.agent ?? '',
    note: isBad ? toCell(readyOf(merge)?.message) : (waitsFor ?? commits),
  };
}

function noteOf(task: Task): string {
  const { phase, attempt = 0 } = task.status ?? {};
  if (phase === 'Pending' || phase === 'Blocked' || phase === 'Failed') return toCell(waitingFor(task));
  return attempt > 1 ? `attempt ${attempt} of ${task.spec.maxAttempts ?? attempt}` : '';
}

function timeOf({ status }: Task, now: Date): string {
  const { phase, startedAt, result } = status ?? {};
  if (phase === 'Running' && startedAt !== undefined) return humanDuration(Math.max(0, now.getTime() - Date.parse(startedAt)));
  const elapsed = phase === 'Succeeded' || phase === 'Failed' ? result?.elapsedSeconds : undefined;
  if (elapsed === undefined) return '';
  return elapsed < 10 ? `${elapsed.toFixed(1)}s` : humanDuration(elapsed * 1_000);
}

function byName(a: Agent | Merge, b: Agent | Merge): number {
  return compare(a.metadata.name, b.metadata.name);
}

/** After every time. */
const NEVER = '~';

/** Of those made in the same second, which a team does with its own, the one that ran first. */
function byAge(a: Task, b: Task): number {
  const [aStart, bStart] = [a, b].map(({ status }) => status?.startedAt ?? NEVER) as [string, string];
  return (
    compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compare(aStart, bStart) ||
    compare(a.metadata.name, b.metadata.name)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
