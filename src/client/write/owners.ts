/**
 * From client-side to server-side apply: what was set by the one way is owned by another name than what is applied by the other, and would
 * stay when the file does not say it any more. So the old ownership is handed over, once, the way kubectl does it.
 */

import { isObject, type JsonObject } from '#lib/json.ts';
import type { ApiObject } from '../resource-api.ts';
import { FIELD_MANAGERS } from './field-managers.ts';
import { LAST_APPLIED } from './last-applied.ts';
import { patchObject, type WriteOptions, type Writer } from './requests.ts';
import type { Target } from './target.ts';

/** managedFields after the hand-over, or nothing when there is nothing to hand over. */
export function handedOver(managedFields: unknown, fieldManager: string): JsonObject[] | undefined {
  const entries = Array.isArray(managedFields) ? managedFields.filter(isObject) : [];
  const old = entries.filter(isClientSide);
  if (old.length === 0) return undefined;
  const isHeir = ({ manager, operation, subresource }: JsonObject) => manager === fieldManager && operation === 'Apply' && !subresource;
  const heir = entries.find(isHeir) ?? { ...old[0], manager: fieldManager, operation: 'Apply' };
  const fieldsV1 = [heir, ...old].map((entry) => entry['fieldsV1']).reduce(union);
  return [{ ...heir, fieldsV1 }, ...entries.filter((entry) => !isHeir(entry) && !isClientSide(entry))];
}

/** kubectl's own name for it, or whoever wrote the note of a client-side apply. */
function isClientSide({ manager, operation, subresource, fieldsV1 }: JsonObject): boolean {
  if (operation !== 'Update' || subresource) return false;
  const metadata = isObject(fieldsV1) ? fieldsV1['f:metadata'] : undefined;
  const annotations = isObject(metadata) ? metadata['f:annotations'] : undefined;
  return manager === FIELD_MANAGERS.apply || (isObject(annotations) && Object.hasOwn(annotations, `f:${LAST_APPLIED}`));
}

function union(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return a ?? b;
  const both: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) both[key] = union(a[key], value);
  return both;
}

export interface HandOver {
  readonly target: Target;
  /** What came back from the apply. */
  readonly applied: ApiObject;
  readonly options: WriteOptions;
}

/** True when something was handed over: the apply has to be sent again then, now as the owner of all of it. */
export async function handOver(writer: Writer, { target, applied, options }: HandOver): Promise<boolean> {
  if (handedOver(applied.metadata['managedFields'], options.fieldManager) === undefined) return false;
  const current = await keepNote(writer, { target, applied, options });
  const value = handedOver(current.metadata['managedFields'], options.fieldManager);
  if (value === undefined) return false;
  const body = [
    { op: 'replace', path: '/metadata/managedFields', value },
    { op: 'replace', path: '/metadata/resourceVersion', value: current.metadata.resourceVersion },
  ];
  await patchObject(writer, target, { type: 'json', body, ...options });
  return true;
}

/** The note gets an owner of its own, or the next apply would remove it and a later client-side one would not know what it had set. */
async function keepNote(writer: Writer, { target, applied, options }: HandOver): Promise<ApiObject> {
  const note = applied.metadata.annotations?.[LAST_APPLIED];
  if (note === undefined) return applied;
  const { apiVersion, kind, metadata } = applied;
  const { name, namespace } = metadata;
  const body = { apiVersion, kind, metadata: { name, ...(namespace ? { namespace } : {}), annotations: { [LAST_APPLIED]: note } } };
  return patchObject(writer, target, { ...options, type: 'apply', body, fieldManager: FIELD_MANAGERS.lastApplied, isForced: true });
}
