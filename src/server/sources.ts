/** For every resource, where its objects are read. */
import { parseLabelSelector } from '#api/label-selector.ts';
import type { KindObject } from '#api/meta.ts';
import { invalidSelector, parseFieldSelector } from '#api/selector.ts';
import type { Clock } from '#lib/clock.ts';
import type { ListQuery, Store } from '#store/store.ts';
import { matchesQuery } from '#store/table.ts';
import { customResourceDefinitions } from './documents/crd.ts';
import { presentationOf, shown } from './forms.ts';
import { podSource } from './pods/source.ts';
import { type Resource, resources } from './resources.ts';
import { coreFieldLabel } from './shape/events.ts';
import { projectedSource, type Source, storedSource } from './source.ts';

export interface Sources {
  sourceOf(resource: Resource): Source;
  shown(resource: Resource, object: KindObject): KindObject;
}

export interface SourceOptions {
  readonly clock: Clock;
  /** The node that all pods are on. */
  readonly nodeName: string;
}

export function createSources(store: Store, options: SourceOptions): Sources {
  const sources = new Map<Resource, Source>();
  for (const resource of resources) sources.set(resource, sourceFor(resource, store, options));
  return {
    sourceOf: (resource) => sources.get(resource) as Source,
    shown,
  };
}

function sourceFor(resource: Resource, store: Store, { clock, nodeName }: SourceOptions): Source {
  if (resource.kind === 'Pod') return podSource(store, nodeName);
  if (resource.stored) {
    const stored = storedSource(store, resource.stored.kind);
    const present = presentationOf(resource);
    const words = resource.group === 'events.k8s.io' ? { fieldSelector: inCoreWords } : {};
    return present ? projectedSource(stored, { present, ...words }) : stored;
  }
  const isDefinitions = resource.kind === 'CustomResourceDefinition';
  return constantSource(isDefinitions ? (customResourceDefinitions(clock.now()) as unknown as KindObject[]) : [], store);
}

/** Each clause starts with a field's name; a comma inside a value has a backslash before it. */
function inCoreWords(selector: string): string {
  return selector.replace(/(^|(?<!\\),)(\s*)([^=!,\s]+)/g, (_, comma, space, label) => `${comma}${space}${inCoreWord(label)}`);
}

function inCoreWord(label: string): string {
  const found = coreFieldLabel(label);
  if (found === undefined) throw invalidSelector(`field label not supported: ${label}`);
  return found;
}

/** What never changes: a watch of it sends what there is and then stays silent. */
function constantSource(objects: readonly KindObject[], store: Store): Source {
  const found = ({ labelSelector = '', fieldSelector = '' }: ListQuery) => {
    const query = {
      labels: parseLabelSelector(labelSelector),
      fields: parseFieldSelector(fieldSelector, ['metadata.name', 'metadata.namespace']),
    };
    return objects.filter((object) => matchesQuery(query, object));
  };
  return {
    get: (_namespace, name) => objects.find(({ metadata }) => metadata.name === name),
    list: (query) => ({ items: found(query), resourceVersion: store.resourceVersion }),
    listAt: (_version, query) => found(query),
    watch: () => () => {},
    resourceVersion: () => store.resourceVersion,
  };
}
