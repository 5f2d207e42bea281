/** The question of rights, asked twice: of the request as a whole before anything is read, and of each object before it is shown or changed. */
import type { KindObject } from '#api/meta.ts';
import { NotFoundError } from '#lib/errors.ts';
import { type Attributes, authorise, type ResourceAttributes } from './auth/authorise.ts';
import { forbiddenMessage } from './auth/forbidden-message.ts';
import type { Identity } from './auth/identity.ts';
import { canSee, type Lookup } from './auth/visibility.ts';
import type { Call } from './call.ts';
import type { Route } from './route.ts';
import { failure } from './status.ts';

export function attributesOf({ verb, resource, namespace, name, subresource }: Route): ResourceAttributes {
  return {
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

export function checkRights(identity: Identity, attributes: Attributes, lookup?: Lookup): void {
  const { allowed, reason } = authorise(identity, attributes, lookup);
  if (allowed) return;
  const details =
    'path' in attributes
      ? {}
      : {
          ...(attributes.name ? { name: attributes.name } : {}),
          ...(attributes.group ? { group: attributes.group } : {}),
          kind: attributes.resource,
        };
  throw failure(403, `${forbiddenMessage(identity, attributes)}: ${reason}`, { details });
}

export function checkRoute(identity: Identity, route: Route): void {
  if (identity.role !== 'admin') checkRights(identity, attributesOf(route));
}

export interface Write {
  /** As it would be; undefined for a deletion. */
  readonly next?: KindObject;
  /** As it is; undefined for a creation. */
  readonly current?: KindObject | undefined;
}

/** An apply that creates is a create. */
export function checkObjectWrite({ identity, route }: Call, { next, current }: Write, lookup?: Lookup): void {
  if (identity.role === 'admin') return;
  // What one may not see is not there, whatever one tries to do with it.
  if (current && !canSee(identity, current, lookup)) throw new NotFoundError('not found');
  const verb = current === undefined ? 'create' : route.verb;
  const object = current ?? next;
  checkRights(
    identity,
    { ...attributesOf(route), verb, ...(object ? { object } : {}), ...(current && next ? { changed: next } : {}) },
    lookup,
  );
}
