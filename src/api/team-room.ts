/**
 * Whether the teams above have room for what a sub-team may have, by what is stored. Controllers set it aside, and have the last word: what
 * they have not looked at yet is counted as it is asked for.
 */
import type { FieldProblem } from '#lib/errors.ts';
import type { Condition } from './meta.ts';
import { grantedTo, ownAgents, reservationsOf } from './team-budget.ts';
import type { Team } from './types.ts';

export interface Relatives {
  /** The parent first. */
  readonly ancestors: readonly Team[];
  /** Other sub-teams of the parent. */
  readonly siblings: readonly Team[];
  /** Names of the agents of the parent that exist. */
  readonly parentAgents: readonly string[];
}

export function roomProblems(team: Team, old: Team | undefined, { ancestors, siblings, parentAgents }: Relatives): FieldProblem[] {
  const [parent] = ancestors;
  const asked = team.spec.budget.maxAgents;
  if (!parent || asked <= (old?.spec.budget.maxAgents ?? 0)) return [];
  const own = ownAgents(parent, parentAgents);
  const shares = sharesIn(parent, siblings);
  const taken = own + shares.reduce((sum, { maxAgents }) => sum + maxAgents, 0);
  const room = Math.max(0, parent.spec.budget.maxAgents - taken);
  if (asked > room) return [problem(tooLittle(team, parent, { own, shares, room }))];
  if (availableTo(parent, ancestors[1]) >= taken + asked) return [];
  // The parent has not got what it may have: who is to blame may stand further up.
  const short = ancestors.findLastIndex((ancestor, index) => availableTo(ancestor, ancestors[index + 1]) < ancestor.spec.budget.maxAgents);
  return [problem(furtherUp(team, ancestors.slice(short)))];
}

interface Share {
  readonly name: string;
  readonly maxAgents: number;
}

/** What is set aside, and what others of whom nobody has decided yet ask for. */
function sharesIn(parent: Team, siblings: readonly Team[]): Share[] {
  const reserved = new Map(reservationsOf(parent).map(({ uid, maxAgents }) => [uid, maxAgents]));
  return siblings
    .map((sibling) => {
      const held = reserved.get(sibling.metadata.uid) ?? 0;
      const isOpen = !isDecided(sibling) && sibling.metadata.deletionTimestamp === undefined;
      return { name: sibling.metadata.name, maxAgents: isOpen ? Math.max(held, sibling.spec.budget.maxAgents) : held };
    })
    .filter(({ maxAgents }) => maxAgents > 0);
}

/** A controller has looked at it as it is now. */
function isDecided({ metadata, status }: Team): boolean {
  const conditions = (status?.conditions ?? []) as readonly Condition[];
  const seen = conditions.find(({ type }) => type === 'Ready')?.observedGeneration ?? status?.observedGeneration ?? 0;
  return seen >= metadata.generation;
}

/** Of what a team may have, what the one above it has given or will be asked to give. */
function availableTo(team: Team, above: Team | undefined): number {
  return isDecided(team) ? grantedTo(team, above) : team.spec.budget.maxAgents;
}

function tooLittle(team: Team, parent: Team, { own, shares, room }: { own: number; shares: readonly Share[]; room: number }): string {
  const { maxAgents } = parent.spec.budget;
  const spent = [`${own} of its own`, ...shares.map((share) => `${share.maxAgents} set aside for ${share.name}`)].join(', ');
  const asked = team.spec.budget.maxAgents;
  const advice =
    room > 0 ? `ask for at most ${room}, or raise the budget of ${parent.metadata.name}` : `raise the budget of ${parent.metadata.name}`;
  return `team ${parent.metadata.name} has no room for the ${asked} agents of ${team.metadata.name}: its budget.maxAgents is ${maxAgents}: ${spent}; ${room} remain; ${advice}`;
}

/** `[short, above]`: the one that did not get what it may have, and the one that did not give it. */
function furtherUp({ metadata, spec }: Team, [short, above]: readonly Team[]): string {
  const wanted = `the ${short?.spec.budget.maxAgents} agents of ${short?.metadata.name}`;
  return `team ${above?.metadata.name} has no room for ${wanted}, and ${metadata.name} needs ${spec.budget.maxAgents} of them`;
}

function problem(text: string): FieldProblem {
  const segments = ['spec', 'budget', 'maxAgents'];
  return { path: segments.join('.'), segments, kind: 'Forbidden', message: `Forbidden: ${text} (QuotaExceeded)` };
}
