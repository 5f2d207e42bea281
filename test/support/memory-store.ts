/** A store that forgets: everything the real one does, but the disk. */
import type { KindObject } from '#api/meta.ts';
import type { Clock } from '#lib/clock.ts';
import type { Admission } from '#store/change.ts';
import { volatile } from '#store/change.ts';
import { type KindRules, Store } from '#store/store.ts';

/** Takes every object as it is. */
export const admitAll: Admission = { admit: (object: KindObject) => object };

export interface MemoryStoreOptions {
  readonly kinds: readonly (string | KindRules)[];
  readonly admission?: Admission;
  readonly clock?: Clock;
  readonly historyLimit?: number;
}

export function memoryStore({ kinds, admission = admitAll, ...rest }: MemoryStoreOptions): Store {
  const rules = kinds.map((kind) => (typeof kind === 'string' ? { kind, selectableFields: [] } : kind));
  return new Store({ kinds: rules, admission, persistence: volatile, ...rest });
}
