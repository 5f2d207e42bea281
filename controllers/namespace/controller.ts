/**
 * Namespace: deleting one deletes what is in it, and it stays, Terminating, until that is gone.
 * Owns the finalizer "kubernetes" of the spec.
 */
import { type KindObject, keyOf } from '#api/meta.ts';
import { CONTENTS_FINALIZER, withoutContents } from '#api/namespace.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { Controller } from '#runtime/controller.ts';
import { inTurns } from '#runtime/in-turns.ts';
import { sayWhatRemains } from './remains.ts';

interface Namespace extends KindObject {
  kind: 'Namespace';
  status?: { phase?: string };
}

export interface NamespaceDeps {
  readonly client: Client;
  /** Everything that lives in a namespace; owners before what they own, so that their own clean-up runs. */
  readonly contentKinds: readonly string[];
}

export function namespaceController({ client, contentKinds }: NamespaceDeps): Controller<Namespace> {
  return {
    name: 'namespace',
    kind: 'Namespace',
    finalizer: CONTENTS_FINALIZER,
    failureCondition: false,
    watches: contentKinds.map((kind) => ({
      kind,
      toKeys: ({ metadata }) => (metadata.deletionTimestamp ? [{ kind: 'Namespace', namespace: '', name: metadata.namespace }] : []),
    })),
    async reconcile() {
      return {};
    },
    async finalize(namespace, ctx) {
      const contents = await contentsOf(client, contentKinds, namespace.metadata.name);
      const staying = contents.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      await inTurns(staying, (object) => ignoreNotFound(client.delete(keyOf(object))));
      // Only a look that finds nothing proves that nothing is left.
      if (contents.length > 0) {
        // What goes at once is not worth a write: at a second look only what is held is still there.
        if (staying.length === 0) sayWhatRemains(namespace, contents, ctx.now());
        return { requeueAfterMs: 200 };
      }
      // Both finalizers in one write: with either of them alone nobody would come back for the other.
      await ignoreNotFound(client.update(withoutContents(namespace)));
      return {};
    },
  };
}

async function contentsOf(client: Client, kinds: readonly string[], namespace: string): Promise<KindObject[]> {
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, { namespace })));
  return lists.flatMap(({ items }) => items);
}
