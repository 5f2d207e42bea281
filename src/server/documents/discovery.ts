/** What is served, as clients discover it: all groups at once (aggregated), or document by document (legacy). */
import type { Resource, Subresource } from '../resources.ts';
import { type GroupVersion, groupNames, groupVersions, versionsOf } from './groups.ts';

export type AggregatedVersion = 'v2' | 'v2beta1';

function kindOf({ group, version }: GroupVersion, kind: string) {
  return { group, version, kind };
}

function named<Name extends string>(name: Name, values: readonly string[]): Partial<Record<Name, readonly string[]>> {
  return values.length === 0 ? {} : ({ [name]: values } as Record<Name, readonly string[]>);
}

function aggregatedResource(of: GroupVersion, resource: Resource) {
  const subresources = resource.subresources.map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: kindOf(of, kind),
    verbs,
  }));
  return {
    resource: resource.plural,
    responseKind: kindOf(of, resource.kind),
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...named('shortNames', resource.shortNames),
    ...named('categories', resource.categories),
    ...(subresources.length > 0 && { subresources }),
  };
}

function aggregatedGroup(group: string) {
  return {
    metadata: group === '' ? {} : { name: group },
    versions: versionsOf(group).map((of) => ({
      version: of.version,
      resources: of.resources.map((resource) => aggregatedResource(of, resource)),
      freshness: 'Current',
    })),
  };
}

function aggregated(groups: readonly string[], version: AggregatedVersion) {
  return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items: groups.map(aggregatedGroup) };
}

/** `/api` */
export const aggregatedCore = (version: AggregatedVersion) => aggregated([''], version);
/** `/apis` */
export const aggregatedGroups = (version: AggregatedVersion) => aggregated(groupNames, version);

/** Clients must see the same three words in the Content-Type that they asked for. */
export function aggregatedType(version: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

/** `/api`. The address is the one by which the client found us. */
export function legacyCore(serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: versionsOf('').map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

function groupEntry(group: string) {
  const versions = versionsOf(group).map(({ name, version }) => ({ groupVersion: name, version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** `/apis` */
export function legacyGroups() {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupNames.map(groupEntry) };
}

/** `/apis/G` */
export function legacyGroup(group: string) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function resourceEntry({ plural, singular, isNamespaced, kind, verbs, shortNames, categories }: Resource) {
  return {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...named('shortNames', shortNames),
    ...named('categories', categories),
  };
}

function subresourceEntry({ plural, isNamespaced }: Resource, { name, kind, verbs }: Subresource) {
  return { name: `${plural}/${name}`, singularName: '', namespaced: isNamespaced, kind, verbs };
}

/** `/api/v1`, `/apis/G/V` */
export function resourceList(name: string) {
  const served = groupVersions.find((version) => version.name === name)?.resources ?? [];
  return {
    kind: 'APIResourceList',
    ...(name.includes('/') && { apiVersion: 'v1' }),
    groupVersion: name,
    resources: served.flatMap((resource) => [
      resourceEntry(resource),
      ...resource.subresources.map((subresource) => subresourceEntry(resource, subresource)),
    ]),
  };
}
