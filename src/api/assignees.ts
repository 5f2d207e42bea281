/** Who a task of a team may be assigned to: its roles, the agents they give, and those made by hand. */
import { nearest } from '#lib/suggest.ts';
import type { StoredObjects } from './relations.ts';
import { agentNamesOf } from './team-budget.ts';
import { type Agent, shortName, type Team } from './types.ts';

export class Assignees {
  readonly #team: Team;
  readonly #stored: StoredObjects;

  constructor(team: Team, stored: StoredObjects) {
    this.#team = team;
    this.#stored = stored;
  }

  has(name: string): boolean {
    const { metadata, spec } = this.#team;
    if (spec.roles.some((role) => role.name === name)) return true;
    const full = `${metadata.name}-${name}`;
    const planned = agentNamesOf(this.#team);
    if (planned.includes(name) || planned.includes(full)) return true;
    return this.#isMember(name) || this.#isMember(full) || this.#members().some((agent) => agent.spec.roleName === name);
  }

  /** `team x has no agent or role y; it has roles a, b` */
  complaint(name: string): string {
    const { metadata, spec } = this.#team;
    const roles = spec.roles.map((role) => role.name);
    const shorts = [...agentNamesOf(this.#team), ...this.#members().map((agent) => agent.metadata.name)];
    const meant = nearest(name, [...new Set([...roles, ...shorts.map((each) => shortName(metadata.name, each))])]);
    const accepted = meant ? `did you mean ${JSON.stringify(meant)}?` : `its roles are ${roles.join(', ')}`;
    return `Not found: ${JSON.stringify(name)}: team ${metadata.name} has no agent or role of that name; ${accepted} (AssigneeNotFound)`;
  }

  #isMember(name: string): boolean {
    const { namespace, name: team } = this.#team.metadata;
    return (this.#stored.get({ kind: 'Agent', namespace, name }) as Agent | undefined)?.spec.team === team;
  }

  #members(): readonly Agent[] {
    const { namespace, name } = this.#team.metadata;
    return this.#stored.list('Agent', { namespace, fieldSelector: `spec.team=${name}` }).items as readonly Agent[];
  }
}
