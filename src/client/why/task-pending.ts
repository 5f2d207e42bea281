/** Why nobody has taken a Task yet. Pure. */
import { type Agent, shortName, type Task } from '#api/types.ts';
import { nearest } from '#lib/suggest.ts';
import { lookAtAgent } from './agent.ts';
import { lookAtShort } from './budget.ts';
import { changeTask, commandOf } from './commands.ts';
import { type Finding, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lastWords } from './task-failed.ts';
import { findTeam, suits, type View } from './view.ts';
import { conditionOf, idOf, listed, plural, timeLeft, wordsOf } from './words.ts';

const SAYS = 'is Pending';

export function lookAtPending(task: Task, sight: Sight): Finding {
  const { reason = '' } = task.status ?? {};
  const condition = conditionOf(task, 'Ready');
  const because = wordsOf({ reason, message: condition?.message ?? '' });
  switch (reason) {
    case 'NoAgent':
      return lookForTeam(task, sight.view);
    case 'AgentNotReady':
      return lookForAgent(task, sight);
    case 'AgentsBusy':
      return lookAtBusy(task, sight.view);
    case 'TeamBusy':
      return lookAtTeamBusy(task, because, sight.view);
    case 'Queued':
      return lookAtQueue(task, sight.view);
    case 'FilesInConflict':
      return lookAtConflict(task, because, sight.view);
    case 'AttemptFailed':
    case 'AttemptLost':
    case 'LeaseExpired':
    case 'VerifyFailed':
    case 'Stuck':
    case 'NoEvidence':
    case 'NoProgress':
      return waiting(SAYS, `${because}${lastWords(task)}; it goes again in ${timeLeft(backOffMs(task, sight.now))}`, PATIENCE);
    case 'RateLimited':
      return waiting(
        SAYS,
        `${because}; it goes again in ${timeLeft(Date.parse(task.status?.notBefore ?? '') - sight.now.getTime())}`,
        PATIENCE,
      );
    case 'Interrupted':
    case 'AgentGone':
    case 'Reassigned':
    case 'Released':
    case 'Retried':
    case 'PlanRefused':
      return waiting(SAYS, `${because}; it goes again at once`, PATIENCE);
    case 'BudgetExhausted':
      return lookAtShort(task, SAYS, { because, view: sight.view });
    case 'OpenForClaim':
      return lookAtOpen(task, sight);
    default:
      return waiting(SAYS, because === '' ? 'it is about to be handed to an agent' : because);
  }
}

/** It passes by itself in the end; sooner when one of the two brings the other's commits into its branch. */
function lookAtConflict({ spec: { team } }: Task, because: string, view: View): Finding {
  const conflict = view
    .agentsOf(team)
    .flatMap((agent) => (agent.status?.conflicts ?? []).map(({ agent: other, files }) => ({ agent, other, files })))
    .find(({ agent, other }) => because.includes([shortName(team, agent.metadata.name), other].sort().join(' and ')));
  if (!conflict) return waiting(SAYS, because, { text: 'patience: the branches fit again, and it starts in a moment' });
  const { agent, other, files } = conflict;
  return waiting(SAYS, because, {
    text: 'patience: it starts when nothing else can run, within 10 minutes; sooner when the branches fit:',
    command: commandOf(
      view,
      'message',
      agent.metadata.name,
      `please bring the commits of ${other} into your branch: see ${listed(files, 5)}`,
    ),
  });
}

/** Nobody is assigned to it: an agent has to come and take it. */
function lookAtOpen(task: Task, sight: Sight): Finding {
  const { request } = task.spec;
  const agents = suitable(task, sight.view);
  const willing = agents.filter((agent) => conditionOf(agent, 'Ready')?.status === 'True');
  if (willing.length === 0) return lookForAgent(task, sight);
  const because = `OpenForClaim: it is not assigned; ${listed(willing.map(idOf))} may claim it`;
  if (request)
    return waiting(SAYS, `${because}; it expires ${request.timeoutSeconds} s after it was asked`, { text: 'patience: everybody was told' });
  return waiting(SAYS, because, {
    text: 'let an agent know of it; it runs `team claim`:',
    command: commandOf(sight.view, 'message', willing[0]?.metadata.name ?? '', `please claim ${task.metadata.name}`),
  });
}

const PATIENCE = { text: 'patience: it is tried again by itself' } as const;

/** As the controller counts: 1 s after the first failure, doubling to 30 s. */
function backOffMs({ status }: Task, now: Date): number {
  const delayMs = Math.min(30_000, 1_000 * 2 ** ((status?.failures ?? 1) - 1));
  return Date.parse(status?.finishedAt ?? '') + delayMs - now.getTime();
}

/** Nobody suits: because there is no team, none of that name in it, or not yet. */
function lookForTeam(task: Task, view: View): Finding {
  const { team: name, assignTo } = task.spec;
  const team = findTeam(view, name);
  if (!team) {
    const meant = nearest(
      name,
      view.objects.filter(({ kind }) => kind === 'Team').map(({ metadata }) => metadata.name),
    );
    const because = `NoAgent: there is no team ${name}${meant ? ` (there is ${meant})` : ''}`;
    return stuck(SAYS, because, { text: `apply a manifest of a Team called ${name}; a task cannot change its team` });
  }
  const roles = team.spec.roles.map((role) => role.name);
  const lacking = (task.spec.skills ?? []).filter((skill) => !team.spec.roles.some((role) => role.skills?.includes(skill)));
  if (lacking.length > 0) {
    const because = `NoAgent: nobody in team ${name} has the skill ${listed(lacking)}`;
    return stuck(SAYS, because, {
      text: 'give a role of the team that skill, or do without it:',
      command: changeTask(view, task, { skills: undefined }),
    });
  }
  const isComing = assignTo === undefined || roles.includes(assignTo);
  if (isComing)
    return leadingTo([team], SAYS, `NoAgent: ${assignTo === undefined ? 'an agent' : assignTo} of ${idOf(team)} does not exist yet`);
  const known = [...new Set([...roles, ...view.agentsOf(name).map(({ metadata }) => shortName(name, metadata.name))])];
  const meant = nearest(assignTo, known);
  const because = `NoAgent: team ${name} has no agent or role ${assignTo}; it has ${listed(known, 5) || 'none'}`;
  const text = meant === undefined ? 'let anybody of the team do it:' : `if ${meant} is meant:`;
  return stuck(SAYS, because, { text, command: changeTask(view, task, { assignTo: meant }) });
}

/** Of several that could run it, the one that is closest to ready is the one to help. */
function lookForAgent(task: Task, sight: Sight): Finding {
  const agents = suitable(task, sight.view);
  const closest = sight.view.once(`closest to ready for ${whomFor(task)}`, () => closestOf(agents, sight));
  if (!closest) return waiting(SAYS, wordsOf({ reason: 'AgentNotReady', message: conditionOf(task, 'Ready')?.message ?? '' }));
  const others = agents.length - 1;
  const because =
    others === 0
      ? 'no suitable agent is ready'
      : `no suitable agent is ready; closest is ${idOf(closest)}, ${plural(others, 'other')} could do it`;
  return leadingTo([closest], SAYS, because);
}

function closestOf(agents: readonly Agent[], sight: Sight): Agent | undefined {
  const distances = new Map(agents.map((agent) => [agent, distanceOf(agent, sight)]));
  return [...agents].sort((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0))[0];
}

function distanceOf(agent: Agent, sight: Sight): number {
  if (agent.metadata.deletionTimestamp !== undefined) return 4;
  const { state } = lookAtAgent(agent, sight);
  if (state !== 'stuck') return state === 'fine' ? 0 : 1;
  return agent.spec.desiredState === 'Stopped' ? 2 : 3;
}

function suitable(task: Task, view: View): readonly Agent[] {
  const { team } = task.spec;
  return view.once(`suitable for ${whomFor(task)}`, () => view.agentsOf(team).filter((agent) => isSuitable(agent, task)));
}

/** As the task controller chooses: by name or role, all the skills, and nobody for a request of its own. */
function isSuitable(agent: Agent, { spec }: Task): boolean {
  const { assignTo, skills = [], request, team } = spec;
  if (!suits(agent, assignTo) || request?.by === shortName(team, agent.metadata.name)) return false;
  return skills.every((skill) => agent.spec.skills?.includes(skill));
}

function whomFor({ spec: { team, assignTo = '', skills = [], request } }: Task): string {
  return [team, assignTo, request?.by ?? '', ...skills].join(' ');
}

/** Of a large team those that have been at it longest. */
const MOST_LEADS = 20;

function lookAtBusy(task: Task, view: View): Finding {
  const { leads, hands } = view.once(`busy for ${whomFor(task)}`, () => busyOf(suitable(task, view), view));
  if (leads.length === 0) return waiting(SAYS, 'AgentsBusy: an agent has become free and takes it in a moment');
  return leadingTo(leads, SAYS, `AgentsBusy: every suitable agent has its hands full: ${hands}`);
}

/** Those that the team works on; one of them ends, or the team may do more at once. */
function lookAtTeamBusy({ spec: { team } }: Task, because: string, view: View): Finding {
  const { leads } = view.once(`all that ${team} works on`, () => busyOf(view.agentsOf(team), view));
  return leads.length === 0 ? waiting(SAYS, because, PATIENCE) : leadingTo(leads, SAYS, because);
}

function busyOf(agents: readonly Agent[], view: View) {
  const holding = agents.map((agent) => ({ agent, held: view.heldBy(agent) })).filter(({ held }) => held.length > 0);
  const tasks = holding.flatMap(({ held }) => held).sort((a, b) => compare(a.status?.startedAt, b.status?.startedAt));
  const hands = holding.map(({ agent, held }) => `${idOf(agent)} holds ${listed(held.map(idOf))}`);
  return { leads: tasks.slice(0, MOST_LEADS), hands: listed(hands) };
}

function lookAtQueue(task: Task, view: View): Finding {
  const ahead = view.once(`line of ${task.spec.team}`, () => placesIn(view.tasksOf(task.spec.team))).get(task.metadata.name) ?? 0;
  const first = ahead === 1 ? '1 task that is more urgent or older goes' : `${ahead} tasks that are more urgent or older go`;
  const because = ahead === 0 ? 'Queued: it is next' : `Queued: ${first} first`;
  if ((task.spec.priority ?? 3) <= 1) return waiting(SAYS, because, { text: 'patience: its turn comes' });
  const command = changeTask(view, task, { priority: 1 });
  return waiting(SAYS, because, { text: 'patience: its turn comes; sooner with a higher priority:', command });
}

/** Task → how many that wait come before it. */
function placesIn(tasks: readonly Task[]): ReadonlyMap<string, number> {
  const waitingOnes = tasks.filter(({ status }) => status?.phase === 'Pending' && !isBefore(status.reason)).sort(turn);
  return new Map(waitingOnes.map(({ metadata }, at) => [metadata.name, at]));
}

/** Reasons of those that stand in no line. */
const NOT_IN_LINE: ReadonlySet<string | undefined> = new Set([
  ...['NoAgent', 'OpenForClaim', 'FilesInConflict', 'BudgetExhausted', 'RateLimited', 'PromptLimit'],
  ...['AttemptFailed', 'AttemptLost', 'LeaseExpired', 'VerifyFailed', 'Stuck', 'NoEvidence', 'NoProgress'],
]);

function isBefore(reason: string | undefined): boolean {
  return NOT_IN_LINE.has(reason);
}

function turn(a: Task, b: Task): number {
  const [x, y] = [a.metadata, b.metadata];
  return (a.spec.priority ?? 3) - (b.spec.priority ?? 3) || compare(x.creationTimestamp, y.creationTimestamp) || compare(x.name, y.name);
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b);
}
