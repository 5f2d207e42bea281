/** What a write needs of the namespace it goes into: that it exists, and is not on its way out. */
import type { Store } from '#store/store.ts';
import { qualifiedName } from './resources.ts';
import type { Route } from './route.ts';
import { failure } from './status.ts';

export function checkNamespace(store: Store, { resource, namespace }: Route, name: string): void {
  if (!resource.isNamespaced || namespace === undefined) return;
  const found = store.get({ kind: 'Namespace', namespace: '', name: namespace });
  if (!found) {
    throw failure(404, `namespaces ${JSON.stringify(namespace)} not found`, { details: { name: namespace, kind: 'namespaces' } });
  }
  if (found.metadata.deletionTimestamp === undefined) return;
  const message = `${qualifiedName(resource)} ${JSON.stringify(name)} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  throw failure(403, message, {
    details: {
      name,
      ...(resource.group ? { group: resource.group } : {}),
      kind: resource.plural,
      causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }],
    },
  });
}
