/** Who depends on whom, by uid, as far as the watches have told. A hint where to look: decisions are made on live objects. */
import { type KindObject, keyOf, type ObjectKey, type OwnerReference } from '#api/meta.ts';
import { equalJson } from '#lib/json.ts';

interface Node {
  readonly key: ObjectKey;
  readonly owners: readonly OwnerReference[];
  /** Its deletion waits for its dependents to be deleted or released. */
  readonly waits: boolean;
}

export class OwnerIndex {
  readonly #nodes = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  /** True when something about its ownership or its waiting changed. */
  put(object: KindObject, waits: boolean): boolean {
    const { uid, ownerReferences: owners = [] } = object.metadata;
    const before = this.#nodes.get(uid);
    // Most objects neither own nor are owned: they are not kept.
    if (!before && owners.length === 0 && !waits) return false;
    if (before && before.waits === waits && equalJson(before.owners, owners)) return false;
    this.remove(uid);
    if (owners.length === 0 && !waits) return true;
    this.#nodes.set(uid, { key: keyOf(object), owners, waits });
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
    return true;
  }

  remove(uid: string): void {
    for (const owner of this.#nodes.get(uid)?.owners ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    this.#nodes.delete(uid);
  }

  dependentsOf(uid: string): ObjectKey[] {
    return this.#keys([...(this.#dependents.get(uid) ?? [])]);
  }

  /** The owners of an object whose deletion waits for it. */
  waitingOwnersOf(uid: string): ObjectKey[] {
    const owners = this.#nodes.get(uid)?.owners ?? [];
    return this.#keys(owners.map((owner) => owner.uid).filter((owner) => this.#nodes.get(owner)?.waits));
  }

  #keys(uids: readonly string[]): ObjectKey[] {
    return uids.flatMap((uid) => this.#nodes.get(uid)?.key ?? []);
  }
}
