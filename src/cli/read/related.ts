/** What belongs to an object without being in it: its events, and the objects it owns. */
import { GROUP } from '#api/meta.ts';
import type { ApiResource } from '#client/discovery.ts';
import { EVENTS, type EventObject } from '#client/events.ts';
import { type ApiObject, listObjects, type ResourceLocation, type ResourceName } from '#client/resource-api.ts';
import { StatusError } from '#client/status-error.ts';
import type { Session } from '../api-command.ts';

/** Only our own kinds are few enough to look through all of them. */
const OWNING_GROUP = GROUP;

/** Undefined when the server has no events to give: then there is nothing to say about them. */
export async function eventsOf(session: Session, { kind, metadata }: ApiObject): Promise<readonly EventObject[] | undefined> {
  const { name, namespace, uid } = metadata;
  const fields = { name, namespace, kind, uid };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  const fieldSelector = given.map(([key, value]) => `involvedObject.${key}=${value}`).join(',');
  return (await listIfAllowed(session, EVENTS, { namespace, query: { fieldSelector } })) as readonly EventObject[] | undefined;
}

/** What only adds to an answer must not take the answer away. */
async function listIfAllowed(
  { connection, signal }: Session,
  resource: ResourceName,
  location: ResourceLocation,
): Promise<readonly ApiObject[] | undefined> {
  try {
    return (await listObjects(connection, { resource, location, signal })).items;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

export type Ownership = (object: ApiObject, resource: ApiResource) => Promise<readonly ApiObject[]>;

/** Who owns what, looked up once for each namespace, however many objects are asked about. */
export function ownership(session: Session, resources: readonly ApiResource[]): Ownership {
  const kinds = resources.filter(({ group, isPreferred, verbs }) => group === OWNING_GROUP && isPreferred && verbs.includes('list'));
  const byNamespace = new Map<string, Promise<readonly ApiObject[]>>();
  const listAll = async (namespace: string) => {
    const lists = await Promise.all(kinds.map((kind) => listIfAllowed(session, kind, { namespace })));
    return lists.flatMap((items = []) => items);
  };
  return async ({ metadata: { namespace = '', uid: owner } }, { group }) => {
    if (group !== OWNING_GROUP) return [];
    const listed = byNamespace.get(namespace) ?? listAll(namespace);
    byNamespace.set(namespace, listed);
    return (await listed).filter(({ metadata: { ownerReferences = [] } }) => ownerReferences.some(({ uid }) => uid === owner));
  };
}
