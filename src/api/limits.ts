/**
 * How many agents the machine and one team may have, counted at the front door by what is stored, and again by controllers when it comes to it; and how
 * much they may take of its disk and of its processors when they begin.
 */

export interface Limits {
  /** Of all teams together. */
  readonly maxAgents: number;
  /** Of one team, sub-teams not counted. */
  readonly maxAgentsPerTeam: number;
  /** The level of the deepest sub-team; a top-level team is at level 0. */
  readonly maxNestingDepth: number;
  /** Of all agents together. */
  readonly maxMemoryMiB: number;
  /** Forks that get their files, and machines that start, at once. */
  readonly maxConcurrentForks: number;
  /** Of snapshots, and of the memory of suspended machines, together. What is over it is refused. */
  readonly maxSavedMiB: number;
  /** Of what is made anew when it is needed: templates of machines and disks of tools. What is over it is removed. */
  readonly maxCacheMiB: number;
}

/** How much memory the machine has is not known here: whoever knows gives a limit. */
export const DEFAULT_LIMITS: Limits = {
  ...{ maxAgents: 100, maxAgentsPerTeam: 20, maxNestingDepth: 3, maxMemoryMiB: Number.POSITIVE_INFINITY },
  ...{ maxConcurrentForks: 10, maxSavedMiB: 102_400, maxCacheMiB: 16_384 },
};
