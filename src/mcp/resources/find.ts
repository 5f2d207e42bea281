/** Teams and what belongs to them, found by the names that people and agents use. What is not there is said with what is. */
import type { KindObject } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import { ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import type { Asking } from '../resource.ts';
import { shortNameOf, teamOf } from './place.ts';

export interface MemberName {
  readonly kind: 'Agent' | 'Task' | 'Merge';
  readonly namespace: string;
  readonly team: string;
  /** Short or full. */
  readonly name: string;
}

const MOST_NAMES = 10;

export async function findTeam({ client }: Asking, namespace: string, name: string): Promise<Team> {
  const team = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name }));
  if (team) return team;
  const { items } = await client.list<Team>('Team');
  const here = items.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
  const elsewhere = items.find(({ metadata }) => metadata.name === name)?.metadata.namespace;
  const hint =
    elsewhere === undefined ? `read agentiso://teams for all of them; ${known('teams', name, here)}` : `add ?namespace=${elsewhere}`;
  throw new NotFoundError(`there is no team ${name} in the namespace ${namespace}`, { hint });
}

export async function findMember<T extends KindObject>(asking: Asking, wanted: MemberName): Promise<T> {
  const { kind, namespace, team, name } = wanted;
  for (const full of [`${team}-${name}`, name]) {
    const found = await ignoreNotFound(asking.client.get<T>({ kind, namespace, name: full }));
    if (found && teamOf(found) === team) return found;
  }
  await findTeam(asking, namespace, team);
  const { items } = await asking.client.list<T>(kind, membersOf(namespace, team));
  const word = kind.toLowerCase();
  throw new NotFoundError(`team ${team} has no ${word} ${name}`, { hint: known(`${word}s`, name, items.map(shortNameOf)) });
}

/** For a list or a watch. */
export function membersOf(namespace: string, team: string): { readonly namespace: string; readonly fieldSelector: string } {
  return { namespace, fieldSelector: `spec.team=${team}` };
}

/** The one that was probably meant comes first, however many there are. */
function known(what: string, name: string, names: readonly string[]): string {
  if (names.length === 0) return `there are no ${what}`;
  const meant = nearest(name, names);
  const sorted = meant === undefined ? names : [meant, ...names.filter((each) => each !== meant)];
  const rest = names.length - MOST_NAMES;
  return `known ${what}: ${sorted.slice(0, MOST_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
