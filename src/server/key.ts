/** The object a route names, as the store knows it. */
import type { ObjectKey } from '#api/meta.ts';
import type { Route } from './route.ts';

export function keyOfRoute({ resource, namespace = '', name = '' }: Route): ObjectKey {
  return { kind: resource.kind, namespace, name };
}
