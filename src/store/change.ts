/** One durable step of the store: an object's new state, or its end. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import type { StoredObjects } from '#api/relations.ts';

export interface Change {
  readonly resourceVersion: number;
  readonly type: 'put' | 'delete';
  readonly key: ObjectKey;
  /** The new state; for a delete the last state, with the version of the deletion. */
  readonly object: KindObject;
  /** The object as JSON: made once, for the limit, the journal and whoever else needs it. */
  readonly json: string;
}

/** Where changes go before anybody is told of them. The memory store has one that does nothing. */
export interface Persistence {
  /** Resolves when every change is on disk, all or none of them as far as a reader can ever see. */
  commit(changes: readonly Change[]): Promise<void>;
}

export const volatile: Persistence = { commit: async () => {} };

/** Validation, defaulting and key order of one kind of object; throws InvalidError. Never changes its arguments. */
export interface Admission {
  /** `stored`: absent where no store is there to be asked yet. */
  admit(object: KindObject, old: KindObject | undefined, stored?: StoredObjects): KindObject;
}
