/** Requests to a path that is ours, but not for this, in Kubernetes' words. Pure. */
import { qualifiedName } from './resources.ts';
import type { Misroute } from './route.ts';
import { failure } from './status.ts';

export function misrouted({ is, resource, name, verb }: Misroute) {
  const group = resource.group ? { group: resource.group } : {};
  const details = { ...group, kind: resource.plural };
  const quoted = qualifiedName(resource);
  switch (is) {
    case 'name missing':
      return failure(400, 'name must be provided');
    case 'no such subresource':
      if (!resource.stored?.crd) return failure(404, 'the server could not find the requested resource', { details: {} });
      return failure(404, `${quoted} ${JSON.stringify(name ?? '')} not found`, { details: { ...(name ? { name } : {}), ...details } });
    case 'no such method':
      if (resource.readOnlyBecause) return failure(405, resource.readOnlyBecause, { details });
      if (!resource.stored?.crd) return failure(405, 'the server does not allow this method on the requested resource', { details: {} });
      return failure(405, `${verb} is not supported on resources of kind ${JSON.stringify(quoted)}`, { details });
  }
}
