/** A set of documents beside what the server has: what they name must be there, in the set or before it, and must make sense together. */
import { GROUP, type KindObject } from '#api/meta.ts';
import type { SetMember } from '#api/set-check.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { listObjects } from '../resource-api.ts';
import type { ApplyItem, Tried } from './apply-set.ts';
import type { Place } from './place.ts';
import { dependenciesOf } from './writing-order.ts';

const RELATED_KINDS = ['Team', 'Agent', 'Task'];

/** Whether any of them is a task that waits for another: the server would only warn of one that is missing. */
export function isWaiting(items: readonly ApplyItem[]): boolean {
  return items.some(({ config }) => config['kind'] === 'Task' && isObject(config['spec']) && dependenciesOf(config['spec']).length > 0);
}

/** `file:line:column: what is wrong and what would be accepted`; nothing when all of it fits together. */
export async function setMistakes(place: Place, tried: readonly Tried[]): Promise<string[]> {
  const ours = tried.filter(({ item: { config } }) => isRelated(config));
  if (ours.length === 0) return [];
  // Loaded when there is something to look at: it knows all rules between objects.
  const [{ setProblems }, { objectsAmong }, { setLines }] = await Promise.all([
    import('#api/set-check.ts'),
    import('#api/with-set.ts'),
    import('./set-lines.ts'),
  ]);
  const expected = await Promise.all(ours.map(async (each) => ({ ...each, object: await objectOf(each) })));
  const known = expected.filter((each): each is typeof each & { object: KindObject } => each.object !== undefined);
  const existing = await existingBeside(place, known);
  const found = objectsAmong(existing);
  const members = known.map(({ object, live }): SetMember => {
    const { kind, metadata } = object;
    const old = (live as KindObject | undefined) ?? found.get({ kind, namespace: metadata.namespace, name: metadata.name });
    return { object: old ? sharing(object, old) : object, old };
  });
  return setLines(
    setProblems(members, { existing: found, knows: 'everything' }),
    known.map(({ item }) => item.document),
  );
}

function isRelated({ apiVersion, kind }: ApplyItem['config']): boolean {
  return String(apiVersion).startsWith(`${GROUP}/`) && RELATED_KINDS.includes(String(kind));
}

/** As the server would have it; where it could not say, because its namespace is still to come, as the schemas make it. */
async function objectOf({ object, item }: Tried): Promise<KindObject | undefined> {
  if (object) return object as unknown as KindObject;
  const { knownKind } = await import('#api/kinds.ts');
  const metadata = { ...(item.config['metadata'] as object), name: item.target.name, namespace: item.target.namespace };
  try {
    return knownKind(item.config['kind']).admit({ ...item.config, metadata } as unknown as KindObject, undefined);
  } catch (error) {
    if (error instanceof InvalidError) return undefined;
    throw error;
  }
}

/** What did not change is the same part, as it is in the store: rules look only at what a write changes. */
function sharing(object: KindObject, old: KindObject): KindObject {
  const [spec, before] = [object.spec, old.spec];
  if (!isObject(spec) || !isObject(before)) return object;
  const shared = Object.entries(spec).map(([key, value]) => [key, isSame(value, before[key]) ? before[key] : value] as const);
  return { ...object, spec: isSame(spec, before) ? before : Object.fromEntries(shared) };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

interface Known {
  readonly item: ApplyItem;
  readonly object: KindObject;
}

/** Teams and agents of the namespaces that the set is in; tasks only of teams of which a task waits for one outside of the set. */
async function existingBeside(place: Place, known: readonly Known[]): Promise<KindObject[]> {
  const discovery = await place.discovery();
  const list = async (plural: string, namespace: string, fieldSelector?: string): Promise<KindObject[]> => {
    const resource = discovery.find(`${plural}.${GROUP}`);
    const location = { namespace, ...(fieldSelector ? { query: { fieldSelector } } : {}) };
    const { items } = await listObjects(place.connection, { resource, location });
    return items as unknown as KindObject[];
  };
  const namespaces = [...new Set(known.map(({ object }) => object.metadata.namespace))];
  const boards = boardsLookedAt(known);
  const lists = await Promise.all([
    ...namespaces.flatMap((namespace) => [list('teams', namespace), list('agents', namespace)]),
    ...boards.map(({ namespace, team }) => list('tasks', namespace, `spec.team=${team}`)),
  ]);
  return lists.flat();
}

function boardsLookedAt(known: readonly Known[]): { readonly namespace: string; readonly team: string }[] {
  const names = new Set(known.filter(isTask).map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`));
  const boards = new Map<string, { readonly namespace: string; readonly team: string }>();
  for (const { object } of known.filter(isTask)) {
    const spec = object.spec as { readonly team: string; readonly dependsOn?: string[] };
    const { namespace } = object.metadata;
    const isInSet = (name: string) => [name, `${spec.team}-${name}`].some((each) => names.has(`${namespace}/${each}`));
    if (dependenciesOf({ ...spec }).some((name) => !isInSet(name))) boards.set(`${namespace}/${spec.team}`, { namespace, team: spec.team });
  }
  return [...boards.values()];
}

function isTask({ object }: Known): boolean {
  return object.kind === 'Task';
}
