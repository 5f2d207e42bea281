/** How many agents the machine and one team may have. Counted at the front door by what is stored, and again by controllers when it comes to it. */

export interface Limits {
  /** Of all teams together. */
  readonly maxAgents: number;
  /** Of one team, sub-teams not counted. */
  readonly maxAgentsPerTeam: number;
  /** Of all agents together. */
  readonly maxMemoryMiB: number;
}

/** How much memory the machine has is not known here: whoever knows gives a limit. */
export const DEFAULT_LIMITS: Limits = { maxAgents: 100, maxAgentsPerTeam: 20, maxMemoryMiB: Number.POSITIVE_INFINITY };
