/** Which part of the rules differs between two wishes, without rendering either: the cost follows the change, not its surroundings. Pure. */
import { type Plan, planRules } from './diff.ts';
import type { Policy, TeamPolicy } from './network.ts';
import { elementsOf, type Part } from './ruleset.ts';

/** What the rules are made from. */
export interface Wish {
  readonly policy: Policy;
  readonly hosts: readonly string[];
}

/** From the rules of one wish to those of the next. Unclear: only a comparison of everything can tell. */
export function planChange(before: Wish, after: Wish): Plan | 'nothing' | 'unclear' {
  const part = changedPart(before.policy, after.policy);
  if (part === undefined) return 'unclear';
  const have = elementsOf(before.policy, before.hosts, part);
  const plan = planRules({ shape: '', elements: have }, elementsOf(after.policy, after.hosts, part), '');
  if (plan === undefined) return 'nothing';
  // A set of ranges is filled anew, which needs all of it.
  return plan.changes === undefined ? 'unclear' : plan;
}

/**
 * Everything outside it has the same elements before and after. A team has its say in who reaches its own agents and its parent's.
 * Undefined: a number occurs twice, so it has no single meaning.
 */
export function changedPart(before: Policy, after: Policy): Part | undefined {
  const [oldTeams, newTeams] = [teamsOf(before), teamsOf(after)];
  const [oldMembers, newMembers] = [membersOf(before), membersOf(after)];
  if (!oldTeams || !newTeams || !oldMembers || !newMembers) return undefined;
  const teams = changedTeams(oldTeams, newTeams);
  return { teams, agents: changedAgents(oldMembers, newMembers, teams) };
}

function changedTeams(before: ReadonlyMap<number, TeamPolicy>, after: ReadonlyMap<number, TeamPolicy>): ReadonlySet<number> {
  const changed = new Set<number>();
  for (const number of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(number), after.get(number)];
    if (old && now && isSameTeam(old, now)) continue;
    changed.add(number);
    for (const parent of [old?.parent, now?.parent]) if (parent !== undefined) changed.add(parent);
  }
  return changed;
}

function changedAgents(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  teams: ReadonlySet<number>,
): ReadonlySet<number> {
  const changed = new Set<number>();
  for (const [agent, team] of after) if (before.get(agent) !== team || teams.has(team)) changed.add(agent);
  for (const [agent, team] of before) if (!after.has(agent) || teams.has(team)) changed.add(agent);
  return changed;
}

function teamsOf({ teams }: Policy): ReadonlyMap<number, TeamPolicy> | undefined {
  const byNumber = new Map(teams.map((each) => [each.team, each]));
  return byNumber.size === teams.length ? byNumber : undefined;
}

function membersOf({ members }: Policy): ReadonlyMap<number, number> | undefined {
  const teams = new Map<number, number>();
  for (const { agent, team } of members) teams.set(agent, team);
  return teams.size === members.length ? teams : undefined;
}

function isSameTeam(a: TeamPolicy, b: TeamPolicy): boolean {
  const isSame = a.allowInterAgent === b.allowInterAgent && a.allowInternet === b.allowInternet && a.parent === b.parent;
  return isSame && isSameList(a.allowedPorts, b.allowedPorts) && isSameList(a.allowCidrs, b.allowCidrs);
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
