/** Asks a server what it serves: one request per root where discovery is aggregated, one per version where it is not. */
import { servedResources } from '#api/generated/resources.ts';
import type { Connection } from './connection.ts';
import { type ApiResource, type Discovery, discoveryOf } from './discovery.ts';
import { getJson } from './resource-api.ts';

export async function loadDiscovery(connection: Connection): Promise<Discovery> {
  const [core, groups] = await Promise.all([loadRoot(connection, '/api'), loadRoot(connection, '/apis')]);
  return discoveryOf(preferFirst([...core, ...groups]));
}

/** Of a daemon of this version, without asking it. What another version has or lacks, its answers will tell. */
export function knownDiscovery(): Discovery {
  return discoveryOf(preferFirst(servedResources));
}

type Listed = Omit<ApiResource, 'isPreferred'>;

/** Versions come in the server's order of preference, but not every resource is in every version. */
function preferFirst(resources: readonly Listed[]): readonly ApiResource[] {
  const seen = new Set<string>();
  return resources.map((resource) => {
    const id = `${resource.plural}.${resource.group}`;
    const isPreferred = !seen.has(id);
    seen.add(id);
    return { ...resource, isPreferred };
  });
}

const AGGREGATED = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

interface AggregatedList {
  readonly kind: 'APIGroupDiscoveryList';
  readonly items?: readonly AggregatedGroup[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly { readonly version: string; readonly resources?: readonly AggregatedResource[] }[];
}

interface AggregatedResource {
  readonly resource: string;
  readonly responseKind?: { readonly group?: string; readonly version?: string; readonly kind?: string };
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface LegacyRoot {
  readonly kind: 'APIVersions' | 'APIGroupList';
  readonly versions?: readonly string[];
  readonly groups?: readonly LegacyGroup[];
}

interface LegacyGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

async function loadRoot(connection: Connection, path: '/api' | '/apis'): Promise<readonly Listed[]> {
  const root = await getJson<AggregatedList | LegacyRoot>(connection, path, { accept: AGGREGATED });
  return root.kind === 'APIGroupDiscoveryList' ? (root.items ?? []).flatMap(ofAggregated) : loadLegacy(connection, root);
}

function ofAggregated({ metadata, versions = [] }: AggregatedGroup): Listed[] {
  return versions.flatMap(({ version, resources = [] }) =>
    resources.map((each) => ({
      group: metadata?.name ?? '',
      version,
      plural: each.resource,
      kind: each.responseKind?.kind ?? '',
      singular: each.singularResource || (each.responseKind?.kind ?? '').toLowerCase(),
      shortNames: each.shortNames ?? [],
      categories: each.categories ?? [],
      verbs: each.verbs ?? [],
      subresources: (each.subresources ?? []).map(({ subresource }) => subresource),
      isNamespaced: each.scope === 'Namespaced',
    })),
  );
}

/** Servers before 1.27 and small ones list groups first, and the resources of each version for themselves. */
async function loadLegacy(connection: Connection, root: LegacyRoot): Promise<readonly Listed[]> {
  const core = (root.versions ?? []).map((version) => ({ group: '', version }));
  const grouped = (root.groups ?? []).flatMap(({ name, versions, preferredVersion }) => {
    const names = [...versions.map(({ version }) => version)].sort(
      (a, b) => Number(b === preferredVersion?.version) - Number(a === preferredVersion?.version),
    );
    return names.map((version) => ({ group: name, version }));
  });
  const loaded = await Promise.all([...core, ...grouped].map((each) => loadVersion(connection, each)));
  return loaded.flat();
}

interface LegacyResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

type GroupVersion = Pick<ApiResource, 'group' | 'version'>;

async function loadVersion(connection: Connection, at: GroupVersion): Promise<readonly Listed[]> {
  const path = at.group === '' ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`;
  const { resources } = await getJson<{ resources: readonly LegacyResource[] }>(connection, path);
  const subresources = (plural: string) =>
    resources.filter(({ name }) => name.startsWith(`${plural}/`)).map(({ name }) => name.slice(plural.length + 1));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, singularName, namespaced, kind, verbs = [], shortNames = [], categories = [] }) => ({
      ...at,
      plural: name,
      kind,
      singular: singularName || kind.toLowerCase(),
      shortNames,
      categories,
      verbs,
      subresources: subresources(name),
      isNamespaced: namespaced,
    }));
}
