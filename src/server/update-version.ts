/** The version that a write says it was made for. */
import type { KindObject } from '#api/meta.ts';
import type { Call } from './call.ts';
import { invalidField } from './errors.ts';
import { isVersion } from './list-options.ts';
import { failure } from './status.ts';

/** Custom resources are never overwritten blindly, nor is a lease: another may hold it by now. */
export function checkVersion({ route: { resource, name = '' } }: Pick<Call, 'route'>, version: string | undefined): void {
  if (version && !isVersion(version)) {
    throw failure(500, `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`, { reason: '' });
  }
  if ((version && version !== '0') || !(resource.stored?.crd || resource.stored?.isNeverOverwritten)) return;
  const message = 'Invalid value: 0: must be specified for an update';
  throw invalidField({ resource, name, kind: resource.plural }, 'metadata.resourceVersion', message);
}

/** 0 is no version: where that is allowed, whatever is there is overwritten. */
export function isVersioned({ metadata: { resourceVersion } }: KindObject): boolean {
  return Boolean(resourceVersion) && resourceVersion !== '0';
}

export function withVersion(object: KindObject, current: KindObject): KindObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: current.metadata.resourceVersion } };
}
