/** Tasks as cards of a board: in which column each is, who has it, since when, and why it is not further. Pure. */
import { type Condition, DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import { shortName, type Task, type Team } from '#api/types.ts';
import { humanDuration } from '#lib/age.ts';
import { toCell } from '#lib/escape.ts';

export const COLUMNS = ['pending', 'blocked', 'working', 'done', 'failed'] as const;
export type Column = (typeof COLUMNS)[number];

export interface Card {
  readonly team: string;
  /** Short, as inside the team. */
  readonly task: string;
  readonly column: Column;
  readonly owner: string;
  /** 0 before the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** It was created, began, or ended then. */
  readonly since: string;
  /** Empty for what goes well. */
  readonly reason: string;
}

export interface TeamState {
  readonly name: string;
  readonly phase: string;
}

export interface Cards {
  readonly namespace: string;
  readonly teams: readonly TeamState[];
  readonly cards: readonly Card[];
}

/** `team` absent: of all teams. */
export function cardsOf(
  objects: Iterable<KindObject>,
  { namespace = DEFAULT_NAMESPACE, team }: { namespace?: string; team?: string | undefined },
): Cards {
  const all = [...objects];
  const isShown = (name: string) => team === undefined || name === team;
  const teams = all.filter((object): object is Team => object.kind === 'Team' && isShown(object.metadata.name));
  const tasks = all.filter((object): object is Task => object.kind === 'Task' && isShown((object as Task).spec.team));
  return {
    namespace,
    teams: teams.map(({ metadata, status }) => ({ name: metadata.name, phase: status?.phase ?? '' })),
    cards: tasks.sort(byTurn).map(cardOf).sort(byColumn),
  };
}

export function cardOf(task: Task): Card {
  const { spec, status, metadata } = task;
  const { attempt = 0, failures = 0 } = status ?? {};
  const column = columnOf(task);
  // Attempts that were cut off on purpose are granted once more.
  const granted = Math.max(0, attempt - (column === 'working' ? 1 : 0) - failures - (column === 'done' ? 1 : 0));
  return {
    team: spec.team,
    task: shortName(spec.team, metadata.name),
    column,
    owner: column === 'pending' || column === 'blocked' ? '' : shortName(spec.team, status?.owner ?? ''),
    attempt,
    maxAttempts: (spec.maxAttempts ?? 1) + granted,
    since: sinceOf(task, column),
    reason: column === 'working' || column === 'done' ? '' : reasonOf(task),
  };
}

export function columnOf({ status }: Task): Column {
  switch (status?.phase) {
    case 'Blocked':
      return 'blocked';
    case 'Claimed':
    case 'Running':
      return 'working';
    case 'Succeeded':
      return 'done';
    case 'Failed':
      return 'failed';
    case 'Pending':
    case undefined:
      return 'pending';
  }
}

function sinceOf({ metadata, status }: Task, column: Column): string {
  const { startedAt, finishedAt } = status ?? {};
  if (column === 'working') return startedAt ?? metadata.creationTimestamp;
  return (column === 'done' || column === 'failed' ? finishedAt : undefined) ?? metadata.creationTimestamp;
}

function reasonOf({ status }: Task): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready') as Condition | undefined;
  return toCell([status?.reason, ready?.message].filter((word) => word !== undefined && word !== '').join(': '));
}

export function ageOfCard({ since }: Card, now: Date): string {
  return humanDuration(Math.max(0, now.getTime() - Date.parse(since)));
}

export function attemptOfCard({ attempt, maxAttempts }: Card): string {
  return attempt === 0 ? '' : `${attempt}/${maxAttempts}`;
}

/** As they go: by priority, then age, then name. */
function byTurn(a: Task, b: Task): number {
  const [x, y] = [a.metadata, b.metadata];
  return (a.spec.priority ?? 3) - (b.spec.priority ?? 3) || compare(x.creationTimestamp, y.creationTimestamp) || compare(x.name, y.name);
}

/** What ended comes with the newest first: there may be thousands. */
function byColumn(a: Card, b: Card): number {
  const isOver = a.column === 'done' || a.column === 'failed';
  return COLUMNS.indexOf(a.column) - COLUMNS.indexOf(b.column) || (isOver ? compare(b.since, a.since) : 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
