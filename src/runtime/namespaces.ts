/**
 * Namespaces that nobody created are there as soon as something is in them: a file put into a new folder, a manifest that names one.
 * Creating through the API is stricter, as in any cluster.
 */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';

export async function ensureNamespace(client: Client, name: string): Promise<void> {
  // It is asked for with every object that comes, and a look costs far less than a creation that is refused.
  if (await ignoreNotFound(client.get({ kind: 'Namespace', namespace: '', name }))) return;
  try {
    await client.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, namespace: '', labels: { 'kubernetes.io/metadata.name': name } },
    });
  } catch (error) {
    if (!isCode(error, 'AlreadyExists')) throw error;
  }
}

/** Resolves when the namespaces of everything there is exist; goes on until the signal aborts. */
export async function followNamespaces(
  client: Client,
  kinds: readonly string[],
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<void> {
  await ensureNamespace(client, DEFAULT_NAMESPACE);
  for (const kind of kinds) {
    const { items, resourceVersion } = await client.list(kind);
    for (const namespace of new Set(items.map(({ metadata }) => metadata.namespace))) await ensureNamespace(client, namespace);
    void follow(client, kind, { resourceVersion, signal }, log);
  }
}

async function follow(client: Client, kind: string, from: { resourceVersion: string; signal: AbortSignal }, log: Logger): Promise<void> {
  try {
    for await (const { type, object } of client.watch(kind, from)) {
      if (type === 'ADDED') await ensureNamespace(client, object.metadata.namespace);
    }
  } catch (error) {
    if (!from.signal.aborted) log.error({ err: error, kind }, 'namespaces are no longer followed');
  }
}
