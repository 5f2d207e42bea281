/** An object by what a person calls it: its name, its short name, or `TEAM/NAME`; and who was probably meant when there is none. */
import { shortName } from '#api/types.ts';
import { type ApiObject, getJson, listObjects, type ResourceName, resourcePath } from '#client/resource-api.ts';
import { isNotFound, StatusError } from '#client/status-error.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import type { Session } from './api-command.ts';
import { UsageError } from './usage-error.ts';

export type NamedKind = 'team' | 'agent' | 'task';

const ours = (plural: string): ResourceName => ({ group: 'agentiso.dev', version: 'v1alpha1', plural, isNamespaced: true });
export const OURS: Readonly<Record<NamedKind, ResourceName>> = { team: ours('teams'), agent: ours('agents'), task: ours('tasks') };
const WORDS: Readonly<Record<NamedKind, readonly string[]>> = {
  team: ['team', 'teams', 'tm'],
  agent: ['agent', 'agents', 'ag', 'pod', 'pods', 'po'],
  task: ['task', 'tasks', 'tk'],
};

type Place = Pick<Session, 'connection' | 'namespace' | 'signal'>;

export async function findNamed(place: Place, kind: NamedKind, word: string): Promise<ApiObject> {
  const [first = '', second, ...more] = word.split('/');
  const isTyped = second !== undefined && WORDS[kind].includes(first);
  const team = second === undefined || isTyped ? undefined : first;
  const name = second ?? first;
  if (name === '' || team === '' || more.length > 0) {
    throw new UsageError(`${JSON.stringify(word)} names no ${kind}; give NAME, ${kind}/NAME or TEAM/NAME`);
  }
  return (team === undefined && (await named(place, kind, name))) || called(place, kind, { name, team });
}

export function teamOf({ spec }: ApiObject): string {
  return isObject(spec) && typeof spec['team'] === 'string' ? spec['team'] : '';
}

async function named({ connection, namespace, signal }: Place, kind: NamedKind, name: string): Promise<ApiObject | undefined> {
  try {
    return await getJson(connection, resourcePath(OURS[kind], { namespace, name }), { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Called {
  readonly name: string;
  readonly team: string | undefined;
}

async function called(place: Place, kind: NamedKind, { name, team }: Called): Promise<ApiObject> {
  const all = (await listAll(place, kind)).filter((object) => team === undefined || teamOf(object) === team);
  const found = all.filter((object) => isCalled(object, name));
  const [object] = found;
  if (object && found.length === 1) return object;
  if (object) {
    const names = found.map(({ metadata }) => metadata.name).join(', ');
    throw new AgentisoError('Invalid', `${name} may be one of ${names}; give the full name`);
  }
  const where = team === undefined ? `in the namespace ${place.namespace}` : `in team ${team} of the namespace ${place.namespace}`;
  throw new NotFoundError(`there is no ${kind} ${name} ${where}${suggestion(name, all)}`);
}

export async function listAll({ connection, namespace, signal }: Place, kind: NamedKind): Promise<readonly ApiObject[]> {
  return (await listObjects(connection, { resource: OURS[kind], location: { namespace }, signal })).items;
}

function isCalled(object: ApiObject, name: string): boolean {
  const { name: full = '' } = object.metadata;
  return full === name || shortName(teamOf(object), full) === name;
}

/** `; did you mean x?`, the names there are when none is near, or nothing. Pure. */
export function suggestion(name: string, all: readonly ApiObject[]): string {
  const names = all.map(({ metadata }) => metadata.name ?? '');
  const byShort = new Map(all.map((object, at) => [shortName(teamOf(object), names[at] ?? ''), names[at] ?? '']));
  const meant = byShort.get(name) ?? nearest(name, names) ?? byShort.get(nearest(name, [...byShort.keys()]) ?? '');
  if (meant !== undefined) return `; did you mean ${meant}?`;
  return names.length === 0 || names.length > MOST_NAMED ? '' : `; there is ${names.join(', ')}`;
}

const MOST_NAMED = 10;

/** A server's "not found" about an agent, with the one that was probably meant; anything else as it is. */
export async function withMeantAgent(error: unknown, place: Place, name: string): Promise<unknown> {
  if (!isNotFound(error) || !(error instanceof StatusError)) return error;
  const agents = await listAll(place, 'agent').catch(() => []);
  return new StatusError({ ...error.status, message: `${error.message}${suggestion(name, agents)}` });
}
