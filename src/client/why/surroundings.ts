/** Fetches what an explanation needs to see: the objects of a namespace, and what went wrong there. */
import { GROUP, type KindObject, VERSION } from '#api/meta.ts';
import type { Connection } from '../connection.ts';
import type { ApiResource } from '../discovery.ts';
import { EVENTS, type EventObject } from '../events.ts';
import { listObjects, type ResourceName } from '../resource-api.ts';
import { StatusError } from '../status-error.ts';
import { askServer } from './server.ts';
import type { Surroundings } from './view.ts';

export const OWN_KINDS: readonly ResourceName[] = ['teams', 'agents', 'tasks', 'merges', 'snapshots'].map((plural) => ({
  group: GROUP,
  version: VERSION,
  plural,
  isNamespaced: true,
}));

/** Whom to ask, and for how long. */
export interface Asking {
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

export interface SurroundingsOptions {
  readonly namespace: string;
  readonly kinds?: readonly ResourceName[];
  /** Without it, what cannot be listed is as if it were not there: it only adds to an answer. */
  readonly isNeeded?: boolean;
}

export async function fetchSurroundings(asking: Asking, options: SurroundingsOptions): Promise<Surroundings> {
  const { namespace, kinds = OWN_KINDS, isNeeded = false } = options;
  const list = (resource: ResourceName) => listIn(asking, resource, { namespace });
  const [complaints, warnings, ...lists] = await Promise.all([
    askServer(asking),
    orNone(listIn(asking, EVENTS, { namespace, query: { fieldSelector: 'type=Warning' } })),
    ...kinds.map((kind) => (isNeeded ? list(kind) : orNone(list(kind)))),
  ]);
  return { objects: lists.flat() as unknown as readonly KindObject[], warnings: warnings as readonly EventObject[], complaints };
}

async function listIn({ connection, signal }: Asking, resource: ResourceName, location: object) {
  return (await listObjects(connection, { resource, location, signal })).items;
}

async function orNone<T>(work: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StatusError) return [];
    throw error;
  }
}

/** What keeps a namespace from going: computed views of other objects and notes about them do not. */
const UNCOUNTED = ['events', 'pods'];

export function contentKinds(resources: readonly ApiResource[]): readonly ResourceName[] {
  return resources.filter(
    ({ plural, isNamespaced, isPreferred, verbs }) =>
      isNamespaced && isPreferred && verbs.includes('list') && verbs.includes('delete') && !UNCOUNTED.includes(plural),
  );
}
