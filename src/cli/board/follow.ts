/** Keeps the teams and tasks of a namespace as they are now: listed, then followed change by change. */
import { setTimeout as delay } from 'node:timers/promises';
import { GROUP, type KindObject, VERSION } from '#api/meta.ts';
import type { Connection } from '#client/connection.ts';
import { type ApiObject, listObjects, type ResourceName, resourcePath, type WatchAnswer, watchEvents } from '#client/resource-api.ts';
import { isCode } from '#lib/errors.ts';

export interface Following {
  readonly connection: Connection;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

const KINDS: readonly ResourceName[] = ['teams', 'tasks'].map((plural) => ({ group: GROUP, version: VERSION, plural, isNamespaced: true }));

export async function listBoard(following: Following): Promise<readonly KindObject[]> {
  const lists = await Promise.all(KINDS.map((resource) => list(resource, following)));
  return lists.flatMap(({ items }) => items) as unknown as readonly KindObject[];
}

/** Calls `changed` with everything after each change; ends when the signal aborts, and fails when the server is gone. */
export async function followBoard(following: Following, changed: (objects: readonly KindObject[]) => void): Promise<void> {
  const known = new Map<ResourceName, ReadonlyMap<string, ApiObject>>();
  const failed = new AbortController();
  const watched = { ...following, signal: AbortSignal.any([following.signal, failed.signal]) };
  const follow = (resource: ResourceName) =>
    followKind(resource, watched, (objects) => {
      known.set(resource, objects);
      if (known.size === KINDS.length)
        changed([...known.values()].flatMap((each) => [...each.values()]) as unknown as readonly KindObject[]);
    });
  try {
    await Promise.all(KINDS.map(follow));
  } catch (error) {
    if (!following.signal.aborted) throw error;
  } finally {
    // One that failed takes the other with it.
    failed.abort();
  }
}

function list(resource: ResourceName, { connection, namespace, signal }: Following) {
  return listObjects(connection, { resource, location: { namespace }, signal });
}

async function followKind(
  resource: ResourceName,
  following: Following,
  changed: (objects: ReadonlyMap<string, ApiObject>) => void,
): Promise<void> {
  while (!following.signal.aborted) {
    const { items, resourceVersion } = await list(resource, following);
    const objects = new Map(items.map((item) => [item.metadata.name ?? '', item]));
    changed(objects);
    for await (const { type, object } of changesFrom(resource, resourceVersion, following)) {
      const name = object.metadata.name ?? '';
      if (type === 'DELETED') objects.delete(name);
      else objects.set(name, object);
      changed(objects);
    }
  }
}

/** Servers end watches now and then; these are not asked again at once. */
const PAUSE_MS = 1_000;

/** Ends when the version is too old to go on from: then everything has to be listed again. */
async function* changesFrom(resource: ResourceName, resourceVersion: string, following: Following): AsyncGenerator<WatchAnswer<ApiObject>> {
  const { connection, namespace, signal } = following;
  let version = resourceVersion;
  try {
    while (!signal.aborted) {
      const before = version;
      const query = { watch: true, allowWatchBookmarks: true, resourceVersion: version };
      for await (const event of watchEvents(connection, { path: resourcePath(resource, { namespace, query }), signal })) {
        version = event.object.metadata.resourceVersion ?? version;
        if (event.type !== 'BOOKMARK') yield event;
      }
      if (version === before) await delay(PAUSE_MS, undefined, { signal });
    }
  } catch (error) {
    if (!isCode(error, 'Expired')) throw error;
  }
}
