/** The teams that are followed, as a board: what is on it, whether anything on it can still move, and how it ended. Pure. */
import { type Condition, controllerOf, type KindObject } from '#api/meta.ts';
import { type Agent, type Merge, shortName, type Task, type Team } from '#api/types.ts';
import { EXIT } from './command.ts';

export type Followed = Team | Task | Agent | Merge;
/** By `kind/namespace/name`. */
export type Board = ReadonlyMap<string, Followed>;

/** What a Team says when it waits for a person. */
const STALLED: readonly (string | undefined)[] = ['NotSupportedYet', 'NameTaken'];

export function boardKey({ kind, metadata }: KindObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

/** Without those that a team no longer lists: it takes them away when it gets to it. */
export function tasksOn(board: Board): readonly Task[] {
  return [...board.values()].filter((object) => object.kind === 'Task').filter((task) => !isSurplus(task, board));
}

export function agentsOn(board: Board): readonly Agent[] {
  return [...board.values()].filter((object) => object.kind === 'Agent');
}

export function teamsOn(board: Board): readonly Team[] {
  return [...board.values()].filter((object) => object.kind === 'Team');
}

export function mergesOn(board: Board): readonly Merge[] {
  return [...board.values()].filter((object) => object.kind === 'Merge');
}

/** A merge that waits for a change of its sources has ended as far as anybody who waits for it is concerned. */
function isMergeOver({ status }: Merge): boolean {
  return ['Merged', 'Conflicted', 'Failed'].includes(status?.phase ?? '');
}

/** A team that merges by itself does so once its tasks have succeeded. */
function isMergeAwaited({ metadata: { namespace, name }, spec }: Team, tasks: readonly Task[], merges: readonly Merge[]): boolean {
  if (spec.merge === undefined || !tasks.every(({ status }) => status?.phase === 'Succeeded')) return false;
  return !merges.some((merge) => merge.metadata.namespace === namespace && controllerOf(merge)?.name === name);
}

/** `done`: every task has ended, and every merge. `lost`: what is left waits for what cannot come, as far as the board shows it. */
export type Verdict = 'moving' | 'done' | 'lost';

/** Without tasks a team runs until it is interrupted. */
export function verdictOf(board: Board, expected: ReadonlySet<string>): Verdict {
  const tasks = tasksOn(board);
  const isComplete = tasks.length > 0 && [...expected].every((key) => board.has(key));
  const [agents, teams, merges] = [agentsOn(board), teamsOn(board), mergesOn(board)];
  const isMerging = merges.some((merge) => !isMergeOver(merge)) || teams.some((team) => isMergeAwaited(team, tasksOf(team, tasks), merges));
  if (isComplete && tasks.every(isFinished)) return isMerging ? 'moving' : 'done';
  if (teams.some(isStalled) || isHopeless(agents, teams)) return 'lost';
  const isLost = (task: Task) => isStuck(task, tasks) || isOrphan(task, board) || teams.some((team) => isUnassignable(task, team, agents));
  return isComplete && tasks.every((task) => isFinished(task) || isLost(task)) ? 'lost' : 'moving';
}

function tasksOf(team: Team, tasks: readonly Task[]): readonly Task[] {
  return tasks.filter((task) => teamOf(task) === teamOf(team));
}

export function isFinished({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Why it waits, for people; a circle is called one, whatever else it says. */
export function waitingFor(task: Task): string | undefined {
  const { reason } = task.status ?? {};
  const said = readyOf(task)?.message ?? reason;
  return isInCircle(task) ? `${said}: a dependency cycle, it can never start` : said;
}

export function isInCircle({ status }: Task): boolean {
  return status?.phase === 'Blocked' && status.reason === 'DependencyCycle';
}

/** What a Task says while its agents are still being made or started, or has not taken back yet: no news. */
export function isPremature(task: Task, board: Board): boolean {
  const { phase, reason } = task.status ?? {};
  if (phase !== 'Pending' || (reason !== 'NoAgent' && reason !== 'AgentNotReady')) return false;
  const team = teamsOn(board).find((each) => teamOf(each) === teamOf(task));
  const members = agentsOn(board).filter((agent) => teamOf(agent) === teamOf(task));
  if (team ? !hasAllMembers(team, members) : members.length === 0) return true;
  const suitable = members.filter((agent) => suits(agent, task));
  return reason === 'NoAgent' ? suitable.length > 0 : suitable.some(isComing);
}

function isComing({ status }: Agent): boolean {
  return [undefined, 'Pending', 'Starting', 'Ready', 'Working'].includes(status?.phase);
}

function suits({ metadata: { name }, spec: { team, roleName } }: Agent, { spec: { assignTo } }: Task): boolean {
  return assignTo === undefined || [name, shortName(team, name), roleName].includes(assignTo);
}

function hasAllMembers({ status, metadata }: Team, members: readonly Agent[]): boolean {
  return status?.observedGeneration === metadata.generation && status?.members?.length === members.length;
}

/** A team whose spec has changed since it said so may be well again. */
export function isStalled(team: Team): boolean {
  const ready = readyOf(team);
  return ready?.status === 'False' && STALLED.includes(ready.reason) && isUpToDate(team);
}

export function readyOf(object: Followed | undefined): Condition | undefined {
  return object?.status?.conditions?.find(({ type }) => type === 'Ready') as Condition | undefined;
}

/** The exit code of what the board shows now. */
export function exitCodeOf(board: Board, expected: ReadonlySet<string>): number {
  if (teamsOn(board).some(isStalled) || mergesOn(board).some(({ status }) => status?.phase !== 'Merged')) return EXIT.failure;
  const tasks = tasksOn(board);
  if (tasks.length === 0 && expected.size === 0) return isHopeless(agentsOn(board), teamsOn(board)) ? EXIT.failure : EXIT.ok;
  return tasks.length > 0 && tasks.every(({ status }) => status?.phase === 'Succeeded') ? EXIT.ok : EXIT.failure;
}

/** `namespace/team` of whatever belongs to one. */
export function teamOf(object: KindObject): string {
  const team = object.kind === 'Team' ? object.metadata.name : (object as Task | Agent | Merge).spec?.team;
  return `${object.metadata.namespace}/${team}`;
}

/** The keys of the tasks these manifests ask for. */
export function expectedTasks(applied: readonly KindObject[]): ReadonlySet<string> {
  return new Set(
    applied.flatMap((object) => {
      if (object.kind === 'Task') return [boardKey(object)];
      return object.kind === 'Team' ? listedTasks(object as Team) : [];
    }),
  );
}

function listedTasks({ metadata: { namespace, name: team }, spec }: Team): string[] {
  return (spec.tasks ?? []).map(({ name }) => `Task/${namespace}/${team}-${name}`);
}

function isSurplus(task: Task, board: Board): boolean {
  const owner = controllerOf(task);
  const team = owner?.kind === 'Team' ? board.get(`Team/${task.metadata.namespace}/${owner.name}`) : undefined;
  return team?.kind === 'Team' && !listedTasks(team).includes(boardKey(task));
}

/** There is no such team, and nobody who works for it. */
function isOrphan(task: Task, board: Board): boolean {
  const isOfTeam = (object: Followed) => object.kind !== 'Task' && object.kind !== 'Merge' && teamOf(object) === teamOf(task);
  return task.status?.reason === 'NoAgent' && ![...board.values()].some(isOfTeam);
}

/** Nobody of the team is called what it asks for, and the team has all the agents it will have. */
function isUnassignable(task: Task, team: Team, agents: readonly Agent[]): boolean {
  const members = agents.filter((agent) => teamOf(agent) === teamOf(team));
  if (task.status?.reason !== 'NoAgent' || !hasAllMembers(team, members) || teamOf(task) !== teamOf(team)) return false;
  return !members.some((agent) => suits(agent, task));
}

/** A team that has not looked at its new spec yet may still change its agents. */
function isHopeless(agents: readonly Agent[], teams: readonly Team[]): boolean {
  const isFailed = (agent: Agent) => (agent.status?.phase === 'Failed' || isWithoutNetwork(agent)) && isUpToDate(agent);
  return agents.length > 0 && agents.every(isFailed) && teams.every(isUpToDate);
}

/** Its team asks for connections that this machine cannot give. */
function isWithoutNetwork({ status }: Agent): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'NetworkReady' && reason === 'NetworkUnavailable') ?? false;
}

/** What it says is about the spec it has now. */
function isUpToDate(object: Followed): boolean {
  const seen = Math.max(readyOf(object)?.observedGeneration ?? 0, object.status?.observedGeneration ?? 0);
  return seen === 0 || seen === object.metadata.generation;
}

/** Waits for what failed, does not exist, runs in a circle, or waits for such a one itself. */
function isStuck({ metadata, spec, status }: Task, tasks: readonly Task[], seen = new Set<string>()): boolean {
  if (status?.phase !== 'Blocked' || seen.has(metadata.name)) return false;
  if (status.reason !== 'DependenciesPending') return true;
  seen.add(metadata.name);
  const isBlocker = ({ metadata: { name } }: Task) => [name, shortName(spec.team, name)].some((each) => status.blockedBy?.includes(each));
  return tasks.filter(isBlocker).some((blocker) => isStuck(blocker, tasks, seen));
}
