/** The JSON of a new version of an object. What it has in common with the one before, often more than half, was written before. */
import type { KindObject } from '#api/meta.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { PART_MARK, withParts } from '#lib/part-text.ts';

/** What JSON.stringify says. */
export function objectText(object: KindObject, before: KindObject | undefined): string {
  const record = object.metadata.managedFields;
  if (record === undefined || record !== before?.metadata.managedFields) return JSON.stringify(object);
  const parts: object[] = [record];
  const marked: JsonObject = { ...object, metadata: { ...object.metadata, managedFields: PART_MARK } };
  const { status } = object;
  // Behind the metadata, or the parts would come in another order.
  if (isObject(status) && status === before.status && isLast('status', object)) {
    marked['status'] = PART_MARK;
    parts.push(status);
  }
  return withParts(JSON.stringify(marked), parts);
}

function isLast(key: string, object: object): boolean {
  let last = '';
  for (const each in object) last = each;
  return last === key;
}
