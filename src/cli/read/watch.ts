/** `get -w`: what is there, then every change as one more row or document, until somebody stops it. */
import { type ApiObject, resourcePath, type WatchAnswer, watchEvents } from '#client/resource-api.ts';
import { isCode } from '#lib/errors.ts';
import type { Session } from '../api-command.ts';
import { EXIT } from '../command.ts';
import type { Wanted } from '../resolve.ts';
import { locationOf, type Selection } from './fetch.ts';

export interface Followed {
  readonly wanted: Wanted;
  readonly selection: Selection;
  /** From the list before. */
  readonly resourceVersion: string;
  readonly accept?: string;
}

/** What can tell its version: an object, or a Table with rows of them. */
type Versioned =
  | ApiObject
  | { readonly metadata?: { readonly resourceVersion?: string }; readonly rows?: readonly { readonly object?: unknown }[] | null };

/** Between two watches of a server that ends them at once. */
const PAUSE_MS = 1_000;

/**
 * A server ends a watch now and then: it goes on from the last version seen. When that is too old by now, everything is shown again,
 * for nobody can tell any more what was missed.
 */
export async function followChanges<T extends Versioned>(
  session: Session,
  { wanted, selection, resourceVersion, accept }: Followed,
  show: (event: WatchAnswer<T>) => void,
): Promise<number> {
  const { connection, signal, namespace } = session;
  const { name, ...location } = locationOf(wanted, selection, namespace);
  const fieldSelector = name === undefined ? selection.fieldSelector : `metadata.name=${name}`;
  let version = resourceVersion;
  const watchOnce = async () => {
    const before = version;
    const query = { ...location.query, fieldSelector, watch: true, allowWatchBookmarks: true, resourceVersion: version };
    const path = resourcePath(wanted.resource, { ...location, query });
    for await (const event of watchEvents<T>(connection, { path, signal, ...(accept ? { accept } : {}) })) {
      version = versionOf(event.object) || version;
      if (event.type !== 'BOOKMARK') show(event);
    }
    if (version === before) await process.getBuiltinModule('node:timers/promises').setTimeout(PAUSE_MS, undefined, { signal });
  };
  while (!signal.aborted) {
    try {
      await watchOnce();
    } catch (error) {
      if (!isCode(error, 'Expired') || version === '') throw error;
      version = '';
    }
  }
  return EXIT.interrupted;
}

function versionOf(object: Versioned): string {
  const row = 'rows' in object && Array.isArray(object.rows) ? (object.rows[0]?.object as ApiObject | undefined) : undefined;
  return row?.metadata?.resourceVersion ?? object.metadata?.resourceVersion ?? '';
}
