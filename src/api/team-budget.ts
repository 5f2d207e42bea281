/** What a team's budget is spent on: its own agents, and what is set aside for sub-teams. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import type { Team } from './types.ts';

export interface Reservation {
  readonly uid: string;
  readonly name: string;
  readonly maxAgents: number;
}

/** `<team>-<role>` for one agent of a role, `<team>-<role>-1` … for several. */
export function agentNamesOf({ metadata, spec }: Team): string[] {
  return spec.roles.flatMap(({ name, count }) =>
    Array.from({ length: count }, (_, index) => `${metadata.name}-${name}${count === 1 ? '' : `-${index + 1}`}`),
  );
}

/** How many agents count as the team's own: those it asks for, and those that are there without being asked for. */
export function ownAgents(team: Team, existing: readonly string[]): number {
  return new Set([...agentNamesOf(team), ...existing]).size;
}

export function reservationsOf({ status }: Team): readonly Reservation[] {
  return status?.budget?.reservations ?? [];
}

export function reservedIn(team: Team): number {
  return reservationsOf(team).reduce((sum, { maxAgents }) => sum + maxAgents, 0);
}

/** Of what a sub-team may have, what its parent has set aside for it. A top-level team needs nobody's leave. */
export function grantedTo(team: Team, parent: Team | undefined): number {
  const { maxAgents } = team.spec.budget;
  if (!parent) return maxAgents;
  return Math.min(maxAgents, reservationsOf(parent).find(({ uid }) => uid === team.metadata.uid)?.maxAgents ?? 0);
}

/** `3 of its own, 4 set aside for docs` */
export function spentOn(team: Team, own: number): string {
  const others = reservationsOf(team).map(({ name, maxAgents }) => `${maxAgents} set aside for ${name}`);
  return [`${own} of its own`, ...others].join(', ');
}

/** A team may not take back what sub-teams rely on. What was too much before may stay, but not grow. */
export function budgetProblems(team: Team, old: Team): FieldProblem[] {
  const excess = excessOf(team);
  if (excess <= 0 || excess <= excessOf(old)) return [];
  const { maxAgents } = team.spec.budget;
  const isLowered = maxAgents < old.spec.budget.maxAgents;
  const segments = isLowered ? ['spec', 'budget', 'maxAgents'] : ['spec', 'roles'];
  const asked = agentNamesOf(team).length;
  const message =
    `Invalid value: ${isLowered ? maxAgents : asked}: budget.maxAgents ${maxAgents} is not enough: ${spentOn(team, asked)}; ` +
    'lower a count, raise budget.maxAgents or delete a sub-team';
  return [{ path: segments.join('.'), segments, kind: 'Invalid', message }];
}

function excessOf(team: Team): number {
  const reserved = reservedIn(team);
  return reserved === 0 ? 0 : agentNamesOf(team).length + reserved - team.spec.budget.maxAgents;
}
