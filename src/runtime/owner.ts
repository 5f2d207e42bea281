/** Owner references: who made a child, who is told of its changes, whose deletion takes it along. */
import { controllerOf, type Draft, type KindObject, type OwnerReference } from '#api/meta.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Watch } from './controller.ts';

/** Makes `owner` the one controller of `child`, in place. Throws when it has another one: children are never adopted silently. */
export function setControllerOwner(child: Draft | KindObject, owner: KindObject): void {
  const { namespace, ownerReferences = [] } = child.metadata;
  if (namespace !== undefined && namespace !== owner.metadata.namespace) {
    throw new AgentisoError('Internal', `programmer error: ${describe(child)} is not in the namespace of its owner ${describe(owner)}`);
  }
  const other = ownerReferences.find(({ controller, uid }) => controller && uid !== owner.metadata.uid);
  if (other) {
    throw new AgentisoError('Conflict', `${describe(child)} belongs to ${other.kind} ${other.name}, not to ${describe(owner)}`, {
      reason: 'NotOurs',
    });
  }
  const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  child.metadata.ownerReferences = [...others, controllerReference(owner)];
}

/** By uid: a namesake of the owner is somebody else. */
export function ownedBy(child: KindObject, owner: KindObject): boolean {
  return controllerOf(child)?.uid === owner.metadata.uid;
}

/** Brings every change of a `kind` object to the object that controls it. */
export function ownedWatch(kind: string): Watch {
  return {
    kind,
    toKeys(child) {
      const owner = controllerOf(child);
      return owner ? [{ kind: owner.kind, namespace: child.metadata.namespace, name: owner.name }] : [];
    },
  };
}

function controllerReference({ apiVersion, kind, metadata: { name, uid } }: KindObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function describe({ kind, metadata }: Draft | KindObject): string {
  return `${kind} ${metadata.name ?? metadata.generateName}`;
}
