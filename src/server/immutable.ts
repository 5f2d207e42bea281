/** What no write may change: which object it is, and whether it is being deleted. */
import type { KindObject } from '#api/meta.ts';
import type { Call } from './call.ts';
import { invalidField } from './errors.ts';

/** Only a deletion marks an object as being deleted. */
export function checkDeletion({ route: { resource, name = '' } }: Call, { metadata }: KindObject, current: KindObject): void {
  const asked = metadata.deletionTimestamp ?? current.metadata.deletionTimestamp;
  if (asked === current.metadata.deletionTimestamp) return;
  const message = `Invalid value: ${JSON.stringify(asked)}: field is immutable`;
  throw invalidField({ resource, name, kind: resource.kind }, 'metadata.deletionTimestamp', message);
}

export function checkUid({ route: { resource, name = '' } }: Call, { metadata }: KindObject, current: KindObject): void {
  if (!metadata.uid || metadata.uid === current.metadata.uid) return;
  const message = `Invalid value: ${JSON.stringify(metadata.uid)}: field is immutable`;
  throw invalidField({ resource, name, kind: resource.kind }, 'metadata.uid', message);
}
