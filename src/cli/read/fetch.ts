/** What `get` asks the server for: Tables for people, objects for everything else. */
import { type ApiResource, qualifiedSingular } from '#client/discovery.ts';
import { type ApiObject, getJson, listObjects, listPages, type Query, type ResourceLocation, resourcePath } from '#client/resource-api.ts';
import { TABLE_ACCEPT, type Table, type TableColumn } from '#client/table.ts';
import { ageOf } from '#lib/age.ts';
import type { Session } from '../api-command.ts';
import type { Wanted } from '../resolve.ts';

/** What the flags of `get` say about which objects. */
export interface Selection {
  readonly isAllNamespaces: boolean;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly pageSize?: number;
}

export function locationOf({ resource, name }: Wanted, selection: Selection, namespace: string): ResourceLocation {
  const { labelSelector, fieldSelector, isAllNamespaces } = selection;
  return {
    namespace: resource.isNamespaced && !isAllNamespaces ? namespace : undefined,
    name,
    query: name === undefined ? { labelSelector, fieldSelector } : {},
  };
}

export interface FetchedTable {
  readonly resource: ApiResource;
  readonly columns: readonly TableColumn[];
  readonly rows: NonNullable<Table['rows']>;
  readonly resourceVersion: string;
}

export async function fetchTable(
  session: Session,
  wanted: Wanted,
  { selection, query }: { selection: Selection; query: Query },
): Promise<FetchedTable> {
  const { resource, name } = wanted;
  const { connection, signal } = session;
  const location = locationOf(wanted, selection, session.namespace);
  const full = { ...location, query: { ...location.query, ...query } };
  const pages: Table[] = [];
  if (name === undefined) {
    const call = {
      resource,
      location: full,
      accept: TABLE_ACCEPT,
      signal,
      ...(selection.pageSize === undefined ? {} : { pageSize: selection.pageSize }),
    };
    for await (const page of listPages<Table>(connection, call)) pages.push(tableOf(page));
  } else pages.push(tableOf(await getJson<Table>(connection, resourcePath(resource, full), { accept: TABLE_ACCEPT, signal })));
  return {
    resource,
    columns: pages[0]?.columnDefinitions ?? [],
    rows: pages.flatMap(({ rows }) => rows ?? []),
    resourceVersion: pages.at(-1)?.metadata?.resourceVersion ?? '',
  };
}

/** A server that knows no Tables sends the objects: then name and age are all there is to show. */
export function tableOf(answer: Table | ApiObject | (ApiObject & { items: readonly ApiObject[] })): Table {
  if (answer.kind === 'Table') return answer as Table;
  const { metadata } = answer as ApiObject;
  const objects = 'items' in answer ? ((answer.items as readonly ApiObject[] | null) ?? []) : [answer as ApiObject];
  const now = new Date();
  return {
    kind: 'Table',
    metadata: metadata as NonNullable<Table['metadata']>,
    columnDefinitions: [{ name: 'Name', format: 'name' }, { name: 'Age' }],
    rows: objects.map((object) => ({ cells: [object.metadata.name, ageOf(object.metadata.creationTimestamp, now)], object })),
  };
}

export interface FetchedObjects {
  readonly objects: readonly ApiObject[];
  readonly resourceVersion: string;
}

export async function fetchObjects(session: Session, wanted: Wanted, selection: Selection): Promise<FetchedObjects> {
  const { resource, name } = wanted;
  const { connection, signal } = session;
  const location = locationOf(wanted, selection, session.namespace);
  if (name !== undefined) {
    const object = await getJson(connection, resourcePath(resource, location), { signal });
    return { objects: [object], resourceVersion: object.metadata.resourceVersion ?? '' };
  }
  const paging = selection.pageSize === undefined ? {} : { pageSize: selection.pageSize };
  const { items, resourceVersion } = await listObjects(connection, { resource, location, signal, ...paging });
  return { objects: items, resourceVersion };
}

/** `team.agentiso.dev` of an object, from what was asked for. */
export function typeNames(wanted: readonly Wanted[]): (object: ApiObject) => string {
  const byKind = new Map(wanted.map(({ resource }) => [resource.kind, qualifiedSingular(resource)]));
  return ({ kind }) => byKind.get(kind) ?? kind.toLowerCase();
}

export function nothingFound(wanted: readonly Wanted[], { isAllNamespaces }: Selection, { namespace }: Pick<Session, 'namespace'>): string {
  const isAnywhere = isAllNamespaces || wanted.every(({ resource }) => !resource.isNamespaced);
  return isAnywhere ? 'No resources found\n' : `No resources found in ${namespace} namespace.\n`;
}
