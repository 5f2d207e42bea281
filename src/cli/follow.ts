/** Follows the tasks of the applied teams and says what happens to them, until nothing can move any more. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import { type CommandContext, EXIT } from './command.ts';

type Followed = Team | Task | Agent;
type Board = Map<string, Followed>;

/** What a Team says when it waits for a person. */
const STALLED: readonly (string | undefined)[] = ['NotSupportedYet', 'NameTaken'];

export async function followTasks(client: Client, applied: readonly KindObject[], context: CommandContext): Promise<number> {
  const teams = new Set(applied.map(teamOf));
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const board: Board = new Map();
  const follow = async (kind: Followed['kind']) => {
    for await (const event of client.watch<Followed>(kind, { signal })) {
      if (!teams.has(teamOf(event.object))) continue;
      report(board, event, context);
      if (isOver(board, expectedTasks(applied))) ended.abort();
    }
  };
  await Promise.all([follow('Team'), follow('Task'), follow('Agent')]);
  return conclude(board);
}

function report(board: Board, { type, object }: WatchEvent<Followed>, context: CommandContext): void {
  const id = `${object.kind.toLowerCase()}/${object.metadata.name}`;
  const before = board.get(id);
  if (type === 'DELETED') {
    board.delete(id);
    return;
  }
  board.set(id, object);
  if (object.kind === 'Team') {
    if (isStalled(object) && describe(before) !== describe(object)) context.err(`${id} ${describe(object)}\n`);
    return;
  }
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

function readyOf(object: Followed | undefined) {
  return object?.status?.conditions?.find(({ type }) => type === 'Ready');
}

function isStalled(object: Followed): boolean {
  return object.kind === 'Team' && readyOf(object)?.status === 'False' && STALLED.includes(readyOf(object)?.reason);
}

function describe(object: Followed | undefined): string {
  const { phase } = object?.status ?? {};
  const ready = readyOf(object);
  if (object?.kind === 'Team') return ready?.message ?? '';
  if (object?.kind === 'Agent') return ready?.status === 'False' ? `${phase}: ${ready.message}` : `${phase}`;
  const { reason, result } = object?.status ?? {};
  if (phase === 'Running') return `Running on ${object?.status?.owner}`;
  if (phase === 'Succeeded') return `Succeeded in ${result?.elapsedSeconds} s`;
  return reason === undefined ? `${phase}` : `${phase}: ${ready?.message ?? reason}`;
}

/** Every task there should be has ended, or waits for what cannot come. Without tasks a team runs until it is interrupted. */
export function isOver(board: Board, expected: number): boolean {
  if ([...board.values()].some(isStalled)) return true;
  const tasks = [...board.values()].filter((object) => object.kind === 'Task');
  const agents = [...board.values()].filter((object) => object.kind === 'Agent');
  if (tasks.length === 0 || tasks.length < expected) return isHopeless(agents);
  const teams = [...board.values()].filter((object) => object.kind === 'Team');
  const isLost = (task: Task) => isStuck(task, tasks) || teams.some((team) => isUnassignable(task, team, agents));
  return tasks.every((task) => isFinished(task) || isLost(task)) || isHopeless(agents);
}

/** Nobody of the team is called what it asks for, and the team has all the agents it will have. */
function isUnassignable({ metadata, spec, status }: Task, team: Team, agents: readonly Agent[]): boolean {
  const members = agents.filter((agent) => teamOf(agent) === teamOf(team));
  const isComplete = team.status?.observedGeneration === team.metadata.generation && team.status.members?.length === members.length;
  if (status?.reason !== 'NoAgent' || !isComplete || `${metadata.namespace}/${spec.team}` !== teamOf(team)) return false;
  return !members.some((agent) =>
    [agent.metadata.name, shortName(spec.team, agent.metadata.name), agent.spec.roleName].includes(spec.assignTo),
  );
}

function isHopeless(agents: readonly Agent[]): boolean {
  return agents.length > 0 && agents.every(({ status }) => status?.phase === 'Failed');
}

/** Waits for what failed, does not exist, runs in a circle, or waits for such a one itself. */
function isStuck({ metadata, spec, status }: Task, tasks: readonly Task[], seen = new Set<string>()): boolean {
  if (status?.phase !== 'Blocked' || seen.has(metadata.name)) return false;
  if (status.reason !== 'DependenciesPending') return true;
  seen.add(metadata.name);
  const isBlocker = ({ metadata: { name } }: Task) => [name, shortName(spec.team, name)].some((each) => status.blockedBy?.includes(each));
  return tasks.filter(isBlocker).some((blocker) => isStuck(blocker, tasks, seen));
}

function conclude(board: Board): number {
  if ([...board.values()].some(isStalled)) return EXIT.failure;
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
