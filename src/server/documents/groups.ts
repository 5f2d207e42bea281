/** The served resources by group and version, in the order in which a Kubernetes server lists them. */
import { type Resource, resources } from '../resources.ts';

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `v1`, `agentiso.dev/v1alpha1`. */
  readonly name: string;
  /** `api/v1`, `apis/agentiso.dev/v1alpha1`. */
  readonly path: string;
  readonly resources: readonly Resource[];
}

/**
 * Kubernetes lists groups by a built-in priority, and custom ones last by name. The order matters: clients give a name that two groups
 * have, such as `events`, to the first.
 */
const PRIORITY = [
  '',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'metrics.k8s.io',
];

function rank(group: string): number {
  const place = PRIORITY.indexOf(group);
  return place < 0 ? PRIORITY.length : place;
}

function byText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

function inOrder(served: readonly Resource[]): readonly GroupVersion[] {
  const found = new Map<string, GroupVersion & { resources: Resource[] }>();
  for (const resource of [...served].sort((a, b) => byText(a.plural, b.plural))) {
    const { group, version } = resource;
    const name = group === '' ? version : `${group}/${version}`;
    const known = found.get(name) ?? { group, version, name, path: group === '' ? `api/${version}` : `apis/${name}`, resources: [] };
    known.resources.push(resource);
    found.set(name, known);
  }
  return [...found.values()].sort((a, b) => rank(a.group) - rank(b.group) || byText(a.name, b.name));
}

export const groupVersions: readonly GroupVersion[] = inOrder(resources);

/** The groups under /apis: every one but the core group. */
export const groupNames: readonly string[] = [...new Set(groupVersions.map(({ group }) => group))].filter((group) => group !== '');

export function versionsOf(group: string): readonly GroupVersion[] {
  return groupVersions.filter((version) => version.group === group);
}
