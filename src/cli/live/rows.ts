/** The board as rows of cells: teams, each with its agents and tasks. Pure. */
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import { humanDuration } from '#lib/age.ts';
import { agentsOn, type Board, isFinished, isStalled, readyOf, tasksOn, teamOf, teamsOn } from '../follow-board.ts';
import { toCell } from '../print/escape.ts';

export interface Row {
  readonly kind: 'team' | 'agent' | 'task';
  readonly name: string;
  readonly phase: string;
  /** How long it has run, or ran. */
  readonly time: string;
  /** Who has it, or what it has. */
  readonly with: string;
  readonly note: string;
}

export function rowsOf(board: Board, now: Date): readonly Row[] {
  const [agents, tasks, teams] = [agentsOn(board), tasksOn(board), teamsOn(board)];
  // What belongs to a team that is not there is shown all the same.
  const names = new Set([...teams, ...agents, ...tasks].map(teamOf));
  return [...names].sort(compare).flatMap((name) => {
    const isIn = (object: Agent | Task) => teamOf(object) === name;
    const own = tasks.filter(isIn).sort(byAge);
    const members = agents.filter(isIn).sort(byName);
    return [
      teamRow(
        name,
        teams.find((team) => teamOf(team) === name),
        own,
      ),
      ...members.map((agent) => agentRow(agent, own)),
      ...own.map((task) => taskRow(task, now)),
    ];
  });
}

function teamRow(name: string, team: Team | undefined, tasks: readonly Task[]): Row {
  const row = { kind: 'team', name: name.replace(/^default\//, ''), time: '', with: '' } as const;
  if (team && isStalled(team)) return { ...row, phase: 'Stalled', note: toCell(readyOf(team)?.message) };
  const done = tasks.filter(isFinished).length;
  const note = tasks.length === 0 ? '' : `${done} of ${tasks.length} tasks done`;
  return { ...row, phase: team?.status?.phase ?? '', note: team ? note : 'no such team' };
}

function agentRow(agent: Agent, tasks: readonly Task[]): Row {
  const { name } = agent.metadata;
  const { phase = 'Pending' } = agent.status ?? {};
  const held = tasks.filter(({ status }) => status?.owner === name && (status.phase === 'Running' || status.phase === 'Claimed'));
  const ready = readyOf(agent);
  return {
    kind: 'agent',
    name: shortName(agent.spec.team, name),
    phase: held.length > 0 && phase === 'Ready' ? 'Working' : phase,
    time: '',
    with: held.map((task) => shortName(task.spec.team, task.metadata.name)).join(', '),
    note: ready?.status === 'False' ? toCell(ready.message) : '',
  };
}

function taskRow(task: Task, now: Date): Row {
  const { phase = 'Pending', owner = '' } = task.status ?? {};
  const isHeld = phase !== 'Pending' && phase !== 'Blocked';
  return {
    kind: 'task',
    name: shortName(task.spec.team, task.metadata.name),
    phase,
    time: timeOf(task, now),
    with: isHeld ? shortName(task.spec.team, owner) : '',
    note: noteOf(task),
  };
}

function noteOf(task: Task): string {
  const { phase, reason, attempt = 0 } = task.status ?? {};
  if (phase === 'Pending' || phase === 'Blocked' || phase === 'Failed') return toCell(readyOf(task)?.message ?? reason);
  return attempt > 1 ? `attempt ${attempt} of ${task.spec.maxAttempts ?? attempt}` : '';
}

function timeOf({ status }: Task, now: Date): string {
  const { phase, startedAt, result } = status ?? {};
  if (phase === 'Running' && startedAt !== undefined) return humanDuration(Math.max(0, now.getTime() - Date.parse(startedAt)));
  const elapsed = phase === 'Succeeded' || phase === 'Failed' ? result?.elapsedSeconds : undefined;
  if (elapsed === undefined) return '';
  return elapsed < 10 ? `${elapsed.toFixed(1)}s` : humanDuration(elapsed * 1_000);
}

function byName(a: Agent, b: Agent): number {
  return compare(a.metadata.name, b.metadata.name);
}

function byAge(a: Task, b: Task): number {
  return compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || compare(a.metadata.name, b.metadata.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
