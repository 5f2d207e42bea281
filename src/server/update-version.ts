/** The version that a write says it was made for. */
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
