/** Which files of a team are in conflict, as the radar says on its agents. */
import { type Agent, shortName } from '#api/types.ts';
import { overlap } from './globs.ts';

export interface Clash {
  readonly between: readonly string[];
  readonly files: readonly string[];
}

export class Clashes {
  readonly #byAgent = new Map<string, readonly Clash[]>();

  /** True when something about it is different now. */
  put(name: string, agent: Agent | undefined): boolean {
    const conflicts = agent?.status?.conflicts ?? [];
    const before = this.#byAgent.get(name);
    if (conflicts.length === 0) return this.#byAgent.delete(name);
    const self = shortName(agent?.spec.team ?? '', name);
    const now = conflicts.map(({ agent: other, files }) => ({ between: [self, other].sort(), files }));
    if (JSON.stringify(before) === JSON.stringify(now)) return false;
    this.#byAgent.set(name, now);
    return true;
  }

  /** The first that a task with these files would meet, and where. */
  over(patterns: readonly string[]): Clash | undefined {
    if (patterns.length === 0) return undefined;
    for (const clashes of this.#byAgent.values()) {
      for (const { between, files } of clashes) {
        const met = files.filter((file) => overlap(patterns, [file]));
        if (met.length > 0) return { between, files: met };
      }
    }
    return undefined;
  }
}
