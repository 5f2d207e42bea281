/**
 * The one resource interface that controllers, tools and commands see. `local.ts` serves it from the store in this process;
 * a Kubernetes API can serve it as well, so nothing here may promise more than that API does.
 */
import type { Draft, KindObject, ObjectKey } from '#api/meta.ts';

export interface ListOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListResult<T> {
  /** Sorted by namespace, then name. */
  readonly items: readonly T[];
  /** Watch from here to miss nothing that came after this list. */
  readonly resourceVersion: string;
}

export interface WatchOptions extends ListOptions {
  /** Every event after this version; absent: the current objects as ADDED first, then live. */
  readonly resourceVersion?: string;
  readonly signal: AbortSignal;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface ApplyOptions {
  /** Who applies: fields that the same manager applied before and now leaves out are removed. */
  readonly fieldManager: string;
  /** Takes fields that others have set. */
  readonly force?: boolean;
}

/** Objects that come out are shared and frozen: copy before changing. */
export interface Client {
  /** Throws NotFoundError. */
  get<T extends KindObject>(key: ObjectKey): Promise<T>;
  list<T extends KindObject>(kind: string, options?: ListOptions): Promise<ListResult<T>>;
  /** Ends when the signal aborts. Throws ExpiredError when the version is too old: list again. */
  watch<T extends KindObject>(kind: string, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Throws AlreadyExistsError, InvalidError. Resolves when the object is on disk. */
  create<T extends KindObject>(obj: Draft<T>): Promise<T>;
  /** Writes spec and metadata; status is ignored. Throws ConflictError unless metadata.resourceVersion is the current one. */
  update<T extends KindObject>(obj: T): Promise<T>;
  /** Writes status only. Throws ConflictError unless metadata.resourceVersion is the current one. */
  updateStatus<T extends KindObject>(obj: T): Promise<T>;
  /** Server-side apply: creates or merges. Throws FieldConflictError where others have set the same fields differently, unless forced. */
  apply<T extends KindObject>(config: Draft<T>, options: ApplyOptions): Promise<T>;
  /** Asks for deletion; the object stays, marked, while it has finalizers. Throws NotFoundError. */
  delete(key: ObjectKey, options?: DeleteOptions): Promise<void>;
}
