/** Whose inbox an address means. Reads objects, changes none. */
import { lineageOf } from '#api/team-rules.ts';
import { type Agent, shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import { EVERYBODY, LEAD, OPERATOR } from './principal.ts';

/** One inbox, of an agent or of the people of a team. */
export interface Inbox {
  /** The mailbox it is in. */
  readonly owner: string;
  readonly namespace: string;
  readonly team: string;
  /** Short name of the agent, or `orchestrator`. */
  readonly name: string;
  /** Absent for people. */
  readonly agent?: Agent;
}

export interface TeamName {
  readonly namespace: string;
  readonly team: string;
}

/** What a team may do by its own word and that of its ancestors. */
export interface MessagingPolicy {
  readonly enabled: boolean;
  readonly broadcast: 'Lead' | 'Any';
}

export class Roster {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  team({ namespace, team }: TeamName): Promise<Team | undefined> {
    return ignoreNotFound(this.#client.get<Team>({ kind: 'Team', namespace, name: team }));
  }

  /** Those that are not on their way out. */
  async agentsOf({ namespace, team }: TeamName): Promise<Agent[]> {
    const { items } = await this.#client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${team}` });
    return items.filter(isStaying);
  }

  /** By short or full name. */
  async agent({ namespace, team }: TeamName, name: string): Promise<Agent | undefined> {
    for (const candidate of [`${team}-${name}`, name]) {
      const found = await ignoreNotFound(this.#client.get<Agent>({ kind: 'Agent', namespace, name: candidate }));
      if (found?.spec.team === team && isStaying(found)) return found;
    }
    return undefined;
  }

  /** The people of a team; undefined when there is no such team. */
  async people(place: TeamName): Promise<Inbox | undefined> {
    const team = await this.team(place);
    return team && inboxOfPeople(team);
  }

  /** The team's agent `lead`, or without one its people. */
  async lead(place: TeamName): Promise<Inbox | undefined> {
    const lead = await this.agent(place, LEAD);
    return lead ? inboxOf(lead) : this.people(place);
  }

  /** By short or full name, `lead` or `orchestrator`, within one team. */
  async inbox(place: TeamName, name: string): Promise<Inbox> {
    const found = name === OPERATOR || name === LEAD ? await this.#reserved(place, name) : await this.agent(place, name);
    if (found) return 'owner' in found ? found : inboxOf(found);
    throw new NotFoundError(`there is no agent ${name} in team ${place.team}`, { hint: await this.#whoIsThere(place) });
  }

  #reserved(place: TeamName, name: typeof OPERATOR | typeof LEAD): Promise<Inbox | undefined> {
    return name === OPERATOR ? this.people(place) : this.lead(place);
  }

  async #whoIsThere(place: TeamName): Promise<string> {
    const names = (await this.agentsOf(place)).map((agent) => inboxOf(agent).name);
    return `write to one of ${[...new Set([...names, LEAD, OPERATOR, EVERYBODY])].join(', ')}`;
  }

  /** Every inbox of a team, or of all teams of the namespace. */
  async inboxes({ namespace, team }: { readonly namespace: string; readonly team?: string }): Promise<Inbox[]> {
    const isWanted = (name: string) => team === undefined || team === name;
    const teams = (await this.#client.list<Team>('Team', { namespace })).items.filter(({ metadata }) => isWanted(metadata.name));
    const agents = (await this.#client.list<Agent>('Agent', { namespace })).items.filter(({ spec }) => isWanted(spec.team));
    return [...agents.filter(isStaying).map(inboxOf), ...teams.map(inboxOfPeople)];
  }

  /** Neighbours talk: a team and its parent. Sisters do not. */
  async areNeighbours(namespace: string, a: string, b: string): Promise<boolean> {
    const parentOf = async (team: string) => (await this.team({ namespace, team }))?.spec.parent;
    return (await parentOf(a)) === b || (await parentOf(b)) === a;
  }

  async #ancestorsOf(team: Team): Promise<readonly Team[]> {
    const { items } = await this.#client.list<Team>('Team', { namespace: team.metadata.namespace });
    return lineageOf(team, (name) => items.find(({ metadata }) => metadata.name === name)).ancestors;
  }

  /** Never more than any ancestor. An agent without a Team object may write to its like. */
  async policy(place: TeamName): Promise<MessagingPolicy> {
    const team = await this.team(place);
    if (!team) return { enabled: true, broadcast: 'Lead' };
    // Asked with every message, and most teams have no parent.
    if (team.spec.parent === undefined) return team.spec.messaging;
    const all = [team, ...(await this.#ancestorsOf(team))].map(({ spec }) => spec.messaging);
    return {
      enabled: all.every(({ enabled }) => enabled),
      broadcast: all.every(({ broadcast }) => broadcast === 'Any') ? 'Any' : 'Lead',
    };
  }
}

/** `<team>/<name>` as its two parts; an address without a team means the own one. */
export function toAddress(own: TeamName, to: string): { readonly place: TeamName; readonly name: string } {
  const slash = to.indexOf('/');
  if (slash < 0) return { place: own, name: to };
  const name = to.slice(slash + 1);
  const team = to.slice(0, slash);
  if (name === EVERYBODY && team !== own.team) {
    throw new AgentisoError('Invalid', `${to}: ${EVERYBODY} means everybody of the own team`, { hint: `write to ${team}/${LEAD}` });
  }
  return { place: { namespace: own.namespace, team }, name };
}

export function inboxOf(agent: Agent): Inbox {
  const { metadata, spec } = agent;
  return {
    owner: metadata.uid,
    namespace: metadata.namespace,
    team: spec.team,
    name: shortName(spec.team, metadata.name),
    agent,
  };
}

export function inboxOfPeople({ metadata }: Team): Inbox {
  return { owner: metadata.uid, namespace: metadata.namespace, team: metadata.name, name: OPERATOR };
}

export function isStaying({ metadata }: Agent): boolean {
  return metadata.deletionTimestamp === undefined;
}
