/** Objects by uid, for everything outside that knows no other name. A name once found is tried first. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { keyOf } from '#api/meta.ts';
import type { Store } from '#store/store.ts';

export function byUid<T extends KindObject>(store: Pick<Store, 'get' | 'list'>, kind: T['kind']): (uid: string) => T | undefined {
  const keys = new Map<string, ObjectKey>();
  return (uid) => {
    const key = keys.get(uid);
    const known = key && store.get(key);
    if (known?.metadata.uid === uid) return known as T;
    keys.clear();
    for (const object of store.list(kind).items) keys.set(object.metadata.uid, keyOf(object));
    const found = keys.get(uid);
    return found && (store.get(found) as T | undefined);
  };
}
