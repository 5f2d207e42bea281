/** Who speaks. It follows from the connection, the token or the socket that was used, and from nothing that is said over it. */
import { type Agent, shortName } from '#api/types.ts';

export type Principal =
  /** An agent, and the run of it that asks. */
  | { readonly kind: 'agent'; readonly agent: Agent; readonly incarnation: string }
  /** A person or a program outside the teams; its messages come from `orchestrator`. */
  | { readonly kind: 'operator'; readonly user: string }
  /** The controllers. */
  | { readonly kind: 'system' };

/** The reserved address of people: no role may have it. */
export const OPERATOR = 'orchestrator';
export const SYSTEM = 'system';
/** The reserved address of whoever leads a team: its agent `lead`, or without one the people who run it. */
export const LEAD = 'lead';
export const EVERYBODY = '*';

/** As it stands in `from`, seen from inside the speaker's own team. */
export function nameOf(principal: Principal): string {
  if (principal.kind === 'operator') return OPERATOR;
  if (principal.kind === 'system') return SYSTEM;
  return shortName(principal.agent.spec.team, principal.agent.metadata.name);
}
