/** Which agents a change of a Team concerns: its own, those of its descendants, and those of its parent. */
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Key } from '#runtime/controller.ts';

interface SeenTeam {
  /** Of what matters here; the rest of a Team changes all the time. */
  readonly fingerprint: string;
  readonly parent: string | undefined;
}

export class Family {
  readonly #agents = new Map<string, Map<string, Key>>();
  readonly #teams = new Map<string, SeenTeam>();

  addAgent(agent: Agent): void {
    const team = teamOf(agent);
    const agents = this.#agents.get(team) ?? new Map<string, Key>();
    this.#agents.set(team, agents.set(formatKey(keyOf(agent)), keyOf(agent)));
  }

  removeAgent(agent: Agent): void {
    const agents = this.#agents.get(teamOf(agent));
    agents?.delete(formatKey(keyOf(agent)));
    if (agents?.size === 0) this.#agents.delete(teamOf(agent));
  }

  /** Every agent there is. */
  agents(): Key[] {
    return [...this.#agents.values()].flatMap((agents) => [...agents.values()]);
  }

  /** Names of the teams that have agents. */
  teams(): string[] {
    return [...this.#agents.keys()];
  }

  /** Takes note of a Team; the agents whose rules it may have changed. */
  concernedBy(object: KindObject, isGone: boolean): Key[] {
    const team = object as Team;
    const name = nameOf(team.metadata.namespace, team.metadata.name);
    const before = this.#teams.get(name);
    const parent = typeof team.spec.parent === 'string' ? nameOf(team.metadata.namespace, team.spec.parent) : undefined;
    const fingerprint = JSON.stringify([team.metadata.uid, team.spec.parent, team.spec.network]);
    if (isGone) this.#teams.delete(name);
    else this.#teams.set(name, { fingerprint, parent });
    if (!isGone && before?.fingerprint === fingerprint) return [];
    const names = [name, ...(parent === undefined ? [] : [parent]), ...this.#descendantsOf(name)];
    return names.flatMap((each) => [...(this.#agents.get(each)?.values() ?? [])]);
  }

  #descendantsOf(name: string): string[] {
    const found = new Set<string>();
    const add = (parent: string): void => {
      for (const [child, seen] of this.#teams) {
        if (seen.parent !== parent || found.has(child) || child === name) continue;
        found.add(child);
        add(child);
      }
    };
    add(name);
    return [...found];
  }
}

export function teamOf({ metadata, spec }: Agent): string {
  return nameOf(metadata.namespace, spec.team);
}

function nameOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
