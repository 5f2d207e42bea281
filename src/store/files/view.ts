/** What of an object stands in its file, and what of a file is a person's to change. */
import type { KindObject, ObjectMeta } from '#api/meta.ts';
import type { JsonObject } from '#lib/json.ts';

/** kubectl's copy of what it applied last: longer than the object itself and no use to a reader. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The readable part: without bookkeeping of clients, which the journal keeps. */
export function fileView(object: KindObject): KindObject {
  const { managedFields, ...metadata } = object.metadata;
  const annotations = shownAnnotations(metadata.annotations);
  if (managedFields === undefined && annotations === metadata.annotations) return object;
  if (annotations !== undefined) return { ...object, metadata: { ...metadata, annotations } };
  const { annotations: _hidden, ...rest } = metadata;
  return { ...object, metadata: rest };
}

function shownAnnotations(annotations: ObjectMeta['annotations']): ObjectMeta['annotations'] {
  if (annotations?.[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _hidden, ...shown } = annotations;
  return Object.keys(shown).length > 0 ? shown : undefined;
}

const EDITABLE_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

/** Everything but identity, the system's metadata, status, and what the file does not show. */
export function editablePart(object: KindObject | JsonObject): JsonObject {
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    metadata,
    status: _status,
    ...desired
  } = object as JsonObject & { metadata?: Partial<ObjectMeta> };
  const kept: JsonObject = {};
  for (const field of EDITABLE_METADATA) {
    const member = field === 'annotations' ? shownAnnotations(metadata?.annotations) : metadata?.[field];
    if (member !== undefined) kept[field] = member;
  }
  return { metadata: kept, ...desired };
}

/** The object with its editable part replaced; what nobody could see in the file stays. */
export function withEditablePart(object: KindObject, { metadata, ...desired }: JsonObject): KindObject {
  const kept = Object.fromEntries(
    Object.entries(object.metadata).filter(([key]) => !(EDITABLE_METADATA as readonly string[]).includes(key)),
  );
  const hidden = object.metadata.annotations?.[LAST_APPLIED];
  const edited = { ...kept, ...(metadata as JsonObject) } as unknown as ObjectMeta;
  if (hidden !== undefined) edited.annotations = { ...edited.annotations, [LAST_APPLIED]: hidden };
  const { apiVersion, kind, status } = object;
  const next = { apiVersion, kind, metadata: edited, ...desired };
  return status === undefined ? next : { ...next, status };
}

/** A document that a person wrote for a new object, freed of what a copied file brought along. */
export function asDraft(document: JsonObject, namespace: string, name: string): KindObject {
  const { status: _status, ...rest } = document;
  const metadata = { ...(editablePart(document)['metadata'] as JsonObject), name, namespace };
  return { ...rest, metadata } as unknown as KindObject;
}
