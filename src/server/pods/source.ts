/** Pods where they are read: the Agents of the store, selected by what they are as Pods. */
import { parseLabelSelector } from '#api/label-selector.ts';
import type { KindObject } from '#api/meta.ts';
import { parseFieldSelector } from '#api/selector.ts';
import type { StoreEvent } from '#store/history.ts';
import type { ListQuery, Store } from '#store/store.ts';
import { matchesQuery, type Query } from '#store/table.ts';
import { projectedSource, type Source, storedSource } from '../source.ts';
import { podOf } from './project.ts';

/** Those of Kubernetes that mean something here. */
const FIELDS = ['metadata.name', 'metadata.namespace', 'spec.nodeName', 'spec.restartPolicy', 'status.phase', 'status.podIP'];
/** An Agent has these too, and the same. */
const SHARED = ['metadata.name', 'metadata.namespace'];

export function podSource(store: Store, nodeName: string): Source {
  const all = projectedSource(storedSource(store, 'Agent'), { present: (agent) => podOf(agent, nodeName) });
  return {
    ...all,
    list(query) {
      const asked = podQuery(query);
      if (!asked) return all.list(query);
      const { items, resourceVersion } = all.list(everyone(query));
      return { items: items.filter((pod) => matchesQuery(asked, pod)), resourceVersion };
    },
    listAt(version, query) {
      const asked = podQuery(query);
      return asked ? all.listAt(version, everyone(query)).filter((pod) => matchesQuery(asked, pod)) : all.listAt(version, query);
    },
    watch(query, onEvent) {
      const asked = podQuery(query);
      if (!asked) return all.watch(query, onEvent);
      const from = query.resourceVersion === undefined ? all.resourceVersion() : Number(query.resourceVersion);
      const changed = changesOf(asked, all.listAt(from, everyone(query)));
      return all.watch({ ...everyone(query), resourceVersion: String(from) }, (event) => {
        const type = changed(event);
        if (type) onEvent({ ...event, type });
      });
    },
  };
}

/**
 * What an event is for who selects: what was selected when the watch began is remembered, since only then can be told what comes and goes.
 * Undefined: nothing.
 */
function changesOf(asked: Query, before: readonly KindObject[]): (event: StoreEvent) => StoreEvent['type'] | undefined {
  const selected = new Set(before.filter((pod) => matchesQuery(asked, pod)).map(idOf));
  return ({ type, object }) => {
    const id = idOf(object);
    const wasSelected = selected.delete(id);
    if (type === 'DELETED' || !matchesQuery(asked, object)) return wasSelected ? 'DELETED' : undefined;
    selected.add(id);
    return wasSelected ? 'MODIFIED' : 'ADDED';
  };
}

/** Undefined when the store can answer it: it knows the Agents by the same words. */
function podQuery({ labelSelector, fieldSelector = '' }: ListQuery): Query | undefined {
  const fields = parseFieldSelector(fieldSelector, FIELDS);
  if (!labelSelector && fields.every(({ key }) => SHARED.includes(key))) return undefined;
  return { labels: labelSelector ? parseLabelSelector(labelSelector) : [], fields };
}

function everyone({ namespace }: ListQuery): ListQuery {
  return namespace === undefined ? {} : { namespace };
}

function idOf({ metadata }: KindObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
