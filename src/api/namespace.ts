/**
 * What is special about a namespace: it has finalizers in its spec too, which hold it while something is in it, as in Kubernetes.
 * Our own controller is called by a finalizer in the metadata, which clients neither see nor can take away. Pure.
 */
import type { KindObject } from './meta.ts';

/** In metadata.finalizers, from the start: the namespace controller must be here before the namespace goes. */
export const CONTENTS_FINALIZER = 'agentiso.dev/contents';
/** In spec.finalizers: there may be something in the namespace. */
export const SPEC_FINALIZER = 'kubernetes';

const NAME_LABEL = 'kubernetes.io/metadata.name';

interface Spec {
  readonly finalizers?: readonly string[];
}

export function isNamespace({ kind }: Pick<KindObject, 'kind'>): boolean {
  return kind === 'Namespace';
}

function specFinalizers({ spec }: KindObject): readonly string[] {
  return list((spec as Spec | undefined)?.finalizers);
}

export function isHeldBySpec(object: KindObject): boolean {
  return isNamespace(object) && specFinalizers(object).length > 0;
}

/** An object marked for deletion; a namespace says so in its status too, and is there for its controller. */
export function heldWhileEnding(object: KindObject): KindObject {
  if (!isNamespace(object)) return object;
  const status = { ...(object.status as object | undefined), phase: 'Terminating' };
  return specFinalizers(object).includes(SPEC_FINALIZER) ? { ...withContents(object), status } : { ...object, status };
}

/** Nothing is left in it. */
export function withoutContents(namespace: KindObject): KindObject {
  const finalizers = specFinalizers(namespace).filter((name) => name !== SPEC_FINALIZER);
  return { ...hidden(namespace), spec: { ...(namespace.spec as object | undefined), finalizers } };
}

/** As clients see it. */
export function hidden(namespace: KindObject): KindObject {
  const { finalizers, ...metadata } = namespace.metadata;
  if (!finalizers?.includes(CONTENTS_FINALIZER)) return namespace;
  const others = finalizers.filter((name) => name !== CONTENTS_FINALIZER);
  return { ...namespace, metadata: { ...metadata, ...(others.length > 0 ? { finalizers: others } : {}) } };
}

/** What a client writes, with what it cannot see. */
export function unhidden(next: KindObject, current: KindObject | undefined): KindObject {
  return current?.metadata.finalizers?.includes(CONTENTS_FINALIZER) ? withContents(next) : next;
}

function withContents(namespace: KindObject): KindObject {
  const finalizers = list(namespace.metadata.finalizers);
  if (finalizers.includes(CONTENTS_FINALIZER)) return namespace;
  return { ...namespace, metadata: { ...namespace.metadata, finalizers: [...finalizers, CONTENTS_FINALIZER] } };
}

/** Before admission: selectors find any namespace by the label with its name, in any cluster, and what may be in it holds it. */
export function completeNamespace(namespace: KindObject, old: KindObject | undefined): KindObject {
  const { name, labels } = namespace.metadata;
  const spec = completeSpec(namespace.spec as Spec | undefined, old);
  const metadata =
    !name || labels?.[NAME_LABEL] === name ? namespace.metadata : { ...namespace.metadata, labels: { ...labels, [NAME_LABEL]: name } };
  const complete = { ...namespace, metadata, spec };
  return old ? complete : withContents(complete);
}

/** Who says nothing of finalizers changes none. */
function completeSpec(spec: Spec | undefined, old: KindObject | undefined): unknown {
  const { finalizers } = spec ?? {};
  if (old) return finalizers ? spec : { ...(old.spec as Spec | undefined), ...spec };
  const isHeld = finalizers && (!Array.isArray(finalizers) || finalizers.includes(SPEC_FINALIZER));
  return isHeld ? spec : { ...spec, finalizers: [...(finalizers ?? []), SPEC_FINALIZER] };
}

/** What is no list is for validation to complain about, which comes later. */
function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}
