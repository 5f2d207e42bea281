/** What every object has: identity, versions, ownership, conditions. */

export const GROUP = 'agentiso.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
export const DEFAULT_NAMESPACE = 'default';

/** Kubernetes' names for a deletion that waits for, or lets go of, the dependents. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Kubernetes' record of who set which field; kept out of the readable file. */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: Record<string, unknown>;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  uid: string;
  /** One global integer as text; clients compare it for equality only. */
  resourceVersion: string;
  /** Moves when the spec moves, and only then. */
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface KindObject<Spec = unknown, Status = unknown> {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: Spec;
  status?: Status;
}

/** What a person or program writes: the server fills in the rest of the metadata. */
export type Draft<T extends KindObject = KindObject> = Omit<T, 'metadata'> & {
  metadata: Partial<ObjectMeta> & ({ name: string } | { generateName: string });
};

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** Which object, never what happened to it. */
export interface ObjectKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function keyOf(obj: { kind: string; metadata: { namespace: string; name: string } }): ObjectKey {
  return { kind: obj.kind, namespace: obj.metadata.namespace, name: obj.metadata.name };
}

export function formatKey({ kind, namespace, name }: ObjectKey): string {
  return `${kind} ${namespace}/${name}`;
}

export function controllerOf(obj: KindObject): OwnerReference | undefined {
  return obj.metadata.ownerReferences?.find((owner) => owner.controller);
}
