/** What the API serves, as discovery lists it: the stored kinds, and a few resources that are answered without being stored. */
import type { Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds.ts';
import type { PrinterColumn, Schema } from '#api/schema.ts';
import type { ServedResource } from '#api/served-resource.ts';
import { toEventsNames } from './shape/events.ts';

export interface Subresource {
  readonly name: 'status' | 'finalize' | 'log' | 'exec' | 'attach' | 'portforward';
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Answered with something else than an object: OpenAPI has no words for it. */
  readonly isStream?: boolean;
}

export interface Resource extends Omit<ServedResource, 'subresources'> {
  readonly listKind: string;
  readonly subresources: readonly Subresource[];
  readonly columns: readonly PrinterColumn[];
  /** Of the whole object, metadata included; absent for what has no document of its own. */
  readonly schema?: Schema;
  /** The stored kind behind it; absent for what is computed. */
  readonly stored?: Kind;
  /** Whose answers wait for the agents themselves: `pods` for its subresources, `usage` for all of it. */
  readonly asks?: 'pods' | 'usage';
  /** Why nothing can be written, where that is not plain. */
  readonly readOnlyBecause?: string;
}

export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
/** The same in the order in which Kubernetes lists them for definitions. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;
export const READ_VERBS = ['get', 'list', 'watch'] as const;

function ofKind(kind: Kind): Resource {
  const { group, version, plural, singular, listKind, shortNames, categories, isNamespaced, columns, schema } = kind;
  return {
    group,
    version,
    plural,
    singular,
    kind: kind.kind,
    listKind,
    shortNames,
    categories,
    isNamespaced,
    verbs: verbsOf(kind),
    subresources: subresourcesOf(kind),
    columns,
    schema,
    stored: kind,
  };
}

function subresourcesOf({ kind, hasStatus }: Kind): readonly Subresource[] {
  const status = { name: 'status', kind, verbs: ['get', 'patch', 'update'] } as const;
  if (kind === 'Namespace') return [{ name: 'finalize', kind, verbs: ['update'] }, status];
  return hasStatus ? [status] : [];
}

/** All namespaces at once would be all there is. */
function verbsOf({ kind, crd }: Kind): readonly string[] {
  if (crd) return CUSTOM_VERBS;
  return kind === 'Namespace' ? ALL_VERBS.filter((verb) => verb !== 'deletecollection') : ALL_VERBS;
}

function computed(resource: Pick<Resource, 'group' | 'version' | 'plural' | 'kind' | 'verbs'> & Partial<Resource>): Resource {
  return {
    singular: resource.kind.toLowerCase(),
    listKind: `${resource.kind}List`,
    shortNames: [],
    categories: [],
    isNamespaced: false,
    subresources: [],
    columns: [],
    ...resource,
  };
}

/** The events of the core group under other names. */
function eventsOf(all: readonly Kind[]): Pick<Resource, 'stored' | 'schema'> {
  const stored = all.find(({ kind }) => kind === 'Event');
  return stored ? { stored, schema: { ...stored.schema, properties: toEventsNames(stored.schema.properties ?? {}) } } : {};
}

const SERVED = ['Team', 'Agent', 'Task', 'Merge', 'Snapshot', 'Namespace', 'ConfigMap', 'Event', 'Lease'];

const CONNECT = { verbs: ['create', 'get'], isStream: true } as const;

/** Not in the category `all`: who gets all of them has the Agents, and who deletes all of them means those. */
const PODS = computed({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  verbs: READ_VERBS,
  isNamespaced: true,
  shortNames: ['po'],
  subresources: [
    { name: 'attach', kind: 'PodAttachOptions', ...CONNECT },
    { name: 'exec', kind: 'PodExecOptions', ...CONNECT },
    { name: 'log', kind: 'Pod', verbs: ['get'], isStream: true },
    { name: 'portforward', kind: 'PodPortForwardOptions', ...CONNECT },
  ],
  asks: 'pods',
  readOnlyBecause: 'pods are a view of agents; change the Agent',
});

const POD_METRICS = computed({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
  singular: '',
  verbs: ['get', 'list'],
  isNamespaced: true,
  asks: 'usage',
});

export const resources: readonly Resource[] = [
  ...kinds.filter(({ kind }) => SERVED.includes(kind)).map(ofKind),
  computed({ group: '', version: 'v1', plural: 'services', kind: 'Service', verbs: ['list'], isNamespaced: true, shortNames: ['svc'] }),
  PODS,
  POD_METRICS,
  computed({
    group: 'events.k8s.io',
    version: 'v1',
    plural: 'events',
    kind: 'Event',
    verbs: ALL_VERBS,
    isNamespaced: true,
    shortNames: ['ev'],
    ...eventsOf(kinds),
  }),
  computed({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    verbs: READ_VERBS,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  }),
  computed({
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    verbs: ['create'],
  }),
  computed({
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    verbs: ['create'],
  }),
  computed({ group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', verbs: ['create'] }),
];

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `teams.agentiso.dev`, `namespaces`: how Kubernetes names a resource in messages. */
export function qualifiedName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}
