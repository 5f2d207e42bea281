/** Follows the tasks of the applied teams and says what happens to them, until nothing can move any more. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import { type CommandContext, EXIT } from './command.ts';

type Board = Map<string, Task | Agent>;

export async function followTasks(client: Client, applied: readonly KindObject[], context: CommandContext): Promise<number> {
  const teams = new Set(applied.map(teamOf));
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const board: Board = new Map();
  const follow = async (kind: 'Task' | 'Agent') => {
    for await (const event of client.watch<Task | Agent>(kind, { signal })) {
      if (!teams.has(teamOf(event.object))) continue;
      report(board, event, context);
      if (isOver(board, expectedTasks(applied))) ended.abort();
    }
  };
  await Promise.all([follow('Task'), follow('Agent')]);
  return conclude(board);
}

function report(board: Board, { type, object }: WatchEvent<Task | Agent>, context: CommandContext): void {
  const id = `${object.kind.toLowerCase()}/${object.metadata.name}`;
  const before = board.get(id);
  if (type === 'DELETED') {
    board.delete(id);
    return;
  }
  board.set(id, object);
  if (object.status?.phase === undefined || describe(before) === describe(object)) return;
  context.err(`${id} ${describe(object)}\n`);
  if (object.kind === 'Task' && isFinished(object)) printResult(object, context);
}

function printResult({ status }: Task, { out, err }: CommandContext): void {
  const { stdout = '', stderr = '' } = status?.result ?? {};
  if (stdout !== '') out(endLine(stdout));
  if (stderr !== '') err(endLine(stderr));
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function describe(object: Task | Agent | undefined): string {
  const { phase } = object?.status ?? {};
  const ready = object?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (object?.kind === 'Agent') return ready?.status === 'False' ? `${phase}: ${ready.message}` : `${phase}`;
  const { reason, result } = object?.status ?? {};
  if (phase === 'Running') return `Running on ${object?.status?.owner}`;
  if (phase === 'Succeeded') return `Succeeded in ${result?.elapsedSeconds} s`;
  return reason === undefined ? `${phase}` : `${phase}: ${ready?.message ?? reason}`;
}

/** Every task there should be has ended, or waits for what cannot come. Without tasks a team runs until it is interrupted. */
export function isOver(board: Board, expected: number): boolean {
  const tasks = [...board.values()].filter((object) => object.kind === 'Task');
  const agents = [...board.values()].filter((object) => object.kind === 'Agent');
  if (tasks.length === 0 || tasks.length < expected) return isHopeless(agents);
  return tasks.every((task) => isFinished(task) || isStuck(task)) || isHopeless(agents);
}

function isHopeless(agents: readonly Agent[]): boolean {
  return agents.length > 0 && agents.every(({ status }) => status?.phase === 'Failed');
}

function isStuck({ status }: Task): boolean {
  return status?.phase === 'Blocked' && (status.reason === 'DependencyFailed' || status.reason === 'DependencyNotFound');
}

function conclude(board: Board): number {
  const tasks = [...board.values()].filter((object) => object.kind === 'Task');
  return tasks.length > 0 && tasks.every(({ status }) => status?.phase === 'Succeeded') ? EXIT.ok : EXIT.failure;
}

function isFinished({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function expectedTasks(applied: readonly KindObject[]): number {
  return applied.reduce(
    (count, { kind, spec }) => count + (kind === 'Task' ? 1 : kind === 'Team' ? ((spec as { tasks?: unknown[] }).tasks?.length ?? 0) : 0),
    0,
  );
}

function teamOf(object: KindObject): string {
  const team = object.kind === 'Team' ? object.metadata.name : (object as Task | Agent).spec.team;
  return `${object.metadata.namespace}/${team}`;
}
