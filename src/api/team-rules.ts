/** What a team may be beside its ancestors: how deep it may stand, and what it may ask for. Pure. */

import type { FieldProblem } from '#lib/errors.ts';
import { isNameIn, isRangeIn } from '#lib/network-names.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Team } from './types.ts';

/** Set on an Agent, with the time, by its team: no new work, it is to go. */
export const DRAINING_ANNOTATION = 'agentiso.dev/draining';
/** Set on an Agent by its suspended team, with the desiredState it goes back to. */
export const SUSPENDED_ANNOTATION = 'agentiso.dev/suspended-from';

export interface Lineage {
  /** The parent first, the top-level team last. */
  readonly ancestors: readonly Team[];
  /** The parent, of the team or of an ancestor, that does not exist. */
  readonly missing?: string;
  readonly isRing: boolean;
}

export function lineageOf(team: Team, find: (name: string) => Team | undefined): Lineage {
  const ancestors: Team[] = [];
  const seen = new Set([team.metadata.name]);
  for (let name = team.spec.parent; typeof name === 'string'; name = ancestors.at(-1)?.spec.parent) {
    if (seen.has(name)) return { ancestors, isRing: true };
    const parent = find(name);
    if (!parent) return { ancestors, missing: name, isRing: false };
    seen.add(name);
    ancestors.push(parent);
  }
  return { ancestors, isRing: false };
}

/** Why the team stands too deep; undefined when it does not. */
export function depthProblem({ ancestors, isRing }: Lineage, deepest = DEFAULT_LIMITS.maxNestingDepth): string | undefined {
  if (isRing) return 'its parents form a ring; one of them must be a top-level team';
  const depth = ancestors.length;
  if (depth > deepest) return `it would be at level ${depth}; the deepest level is ${deepest} (limits.maxNestingDepth)`;
  const strict = ancestors.find(({ spec }) => spec.budget.maxDepth < depth);
  return strict && `it would be at level ${depth}; budget.maxDepth of team ${strict.metadata.name} is ${strict.spec.budget.maxDepth}`;
}

/** One thing a team asks for that an ancestor does not have. */
export interface Excess {
  readonly segments: readonly (string | number)[];
  readonly asked: unknown;
  readonly ancestor: string;
  readonly allowed: string;
}

/** Of each field what the nearest ancestor refuses. */
export function excesses(team: Team, ancestors: readonly Team[]): Excess[] {
  const found = ancestors.flatMap((ancestor) => excessesOver(team, ancestor));
  return found.filter((one, index) => found.findIndex((other) => pathOf(other.segments) === pathOf(one.segments)) === index);
}

/** For admission: what the stored team asked for already is in force as narrow as its parents make it, and is not refused now. */
export function policyProblems(team: Team, old: Team | undefined, ancestors: readonly Team[]): FieldProblem[] {
  const known = new Set((old ? excesses(old, ancestors) : []).map(({ segments, asked }) => JSON.stringify([field(segments), asked])));
  return excesses(team, ancestors)
    .filter(({ segments, asked }) => !known.has(JSON.stringify([field(segments), asked])))
    .map((excess) => ({
      path: pathOf(excess.segments),
      segments: excess.segments,
      kind: 'Invalid' as const,
      message: `Invalid value: ${JSON.stringify(excess.asked)}: a sub-team cannot have more than its parent: ${allowance(excess)}`,
    }));
}

/** `spec.network.allowInternet true (team product has false)` */
export function describeExcess(excess: Excess): string {
  return `${pathOf(excess.segments)} ${JSON.stringify(excess.asked)} (${allowance(excess)})`;
}

function allowance({ ancestor, allowed }: Excess): string {
  return `team ${ancestor} has ${allowed}`;
}

const BROADCAST = ['Lead', 'Any'] as const;
const SUB_TEAMS = ['None', 'Lead', 'Any'] as const;
const ISOLATION = ['process', 'sandbox', 'vm'] as const;

export interface EffectivePolicy {
  readonly broadcast: (typeof BROADCAST)[number];
  readonly subTeams: (typeof SUB_TEAMS)[number];
  readonly minimum: (typeof ISOLATION)[number];
}

/** What counts once all ancestors have had their say; the network has its own (controllers/network/policy.ts). */
export function effectivePolicy(team: Team, ancestors: readonly Team[]): EffectivePolicy {
  const all = [team, ...ancestors].map(({ spec }) => spec);
  return {
    broadcast: BROADCAST[Math.min(...all.map(({ messaging }) => BROADCAST.indexOf(messaging.broadcast)))] ?? 'Lead',
    subTeams: SUB_TEAMS[Math.min(...all.map(({ subTeams }) => SUB_TEAMS.indexOf(subTeams)))] ?? 'None',
    minimum: ISOLATION[Math.max(...all.map(({ isolation }) => ISOLATION.indexOf(isolation.minimum)))] ?? 'vm',
  };
}

/** Whether the preparation of its golden snapshot may use the internet: only below teams that let somebody out. */
export function mayPrepareOnline(team: Team, ancestors: readonly Team[]): boolean {
  return team.spec.golden?.allowInternet === true && ancestors.every(({ spec }) => isOnline(spec));
}

function isOnline({ network, golden }: Team['spec']): boolean {
  return network.allowInternet || golden?.allowInternet === true;
}

function excessesOver({ spec }: Team, { metadata, spec: parent }: Team): Excess[] {
  const ranked = (segments: string[], asked: string, allowed: string, isMore: boolean) => (isMore ? [{ segments, asked, allowed }] : []);
  return [
    ...networkExcesses(spec.network, parent.network),
    ...ranked(
      ['spec', 'messaging', 'broadcast'],
      spec.messaging.broadcast,
      parent.messaging.broadcast,
      BROADCAST.indexOf(spec.messaging.broadcast) > BROADCAST.indexOf(parent.messaging.broadcast),
    ),
    ...ranked(['spec', 'subTeams'], spec.subTeams, parent.subTeams, SUB_TEAMS.indexOf(spec.subTeams) > SUB_TEAMS.indexOf(parent.subTeams)),
    ...(spec.golden?.allowInternet && !isOnline(parent)
      ? [{ segments: ['spec', 'golden', 'allowInternet'], asked: true, allowed: 'false' }]
      : []),
    ...ranked(
      ['spec', 'isolation', 'minimum'],
      spec.isolation.minimum,
      parent.isolation.minimum,
      ISOLATION.indexOf(spec.isolation.minimum) < ISOLATION.indexOf(parent.isolation.minimum),
    ),
  ].map((excess) => ({ ...excess, ancestor: metadata.name }));
}

type NetworkRules = Team['spec']['network'];
type Found = Omit<Excess, 'ancestor'>;

function networkExcesses(own: NetworkRules, parent: NetworkRules): Found[] {
  const at = (name: keyof NetworkRules, index?: number) => ['spec', 'network', name, ...(index === undefined ? [] : [index])];
  const beyond = <T>(name: keyof NetworkRules, asked: readonly T[] = [], allowed: readonly T[] = [], isIn: (a: T, b: T) => boolean) =>
    asked.flatMap((one, index) =>
      allowed.some((other) => isIn(one, other)) ? [] : [{ segments: at(name, index), asked: one, allowed: listed(allowed) }],
    );
  return [
    ...(['allowInternet', 'allowInterAgent'] as const)
      .filter((name) => own[name] && !parent[name])
      .map((name) => ({ segments: at(name), asked: true, allowed: 'false' })),
    ...portExcesses(own, parent),
    ...beyond('allowCidrs', own.allowCidrs, parent.allowCidrs, (inner, outer) => isRangeIn(inner, outer)),
    ...beyond('allowDomains', own.allowDomains, parent.allowDomains, isNameIn),
  ];
}

/** No list means all ports, but only for agents that may reach each other at all. */
function portExcesses(own: NetworkRules, { allowedPorts: allowed = [] }: NetworkRules): Found[] {
  const { allowInterAgent, allowedPorts: asked = [] } = own;
  if (!allowInterAgent || allowed.length === 0) return [];
  const segments = ['spec', 'network', 'allowedPorts'];
  if (asked.length === 0) return [{ segments, asked: [], allowed: `${listed(allowed)}, and an empty list means all ports` }];
  return asked.flatMap((port, index) =>
    allowed.includes(port) ? [] : [{ segments: [...segments, index], asked: port, allowed: listed(allowed) }],
  );
}

function listed(values: readonly unknown[]): string {
  return values.length === 0 ? 'none' : values.join(', ');
}

/** Without the place in a list: a list in another order asks for nothing new. */
function field(segments: Excess['segments']): string {
  return segments.filter((segment) => typeof segment === 'string').join('.');
}

function pathOf(segments: Excess['segments']): string {
  return segments.map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : index === 0 ? segment : `.${segment}`)).join('');
}
