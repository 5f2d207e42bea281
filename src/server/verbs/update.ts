/** update: PUT on an object or its status. */
import type { KindObject } from '#api/meta.ts';
import { NotFoundError } from '#lib/errors.ts';
import { objectAnswer } from '../answer.ts';
import { checkObjectWrite } from '../authorised.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { decodeObject, inNamespace, namedAs } from '../decode.ts';
import { checkedForm } from '../event-writes.ts';
import { checkDeletion } from '../immutable.ts';
import { keyOfRoute } from '../key.ts';
import { finalizerWarnings } from '../metadata-warnings.ts';
import { checkNamespace } from '../namespaces.ts';
import { apiVersionOf } from '../resources.ts';
import { trackedWrite } from '../tracking.ts';
import { checkVersion, isVersioned, withVersion } from '../update-version.ts';
import { writeAsked } from '../write-options.ts';
import { atFrontDoor } from './front-door.ts';

export async function updateObject(call: Call, serving: Serving): Promise<Answer> {
  const asked = writeAsked(call, 'UpdateOptions');
  const key = keyOfRoute(call.route);
  const sent = await decodeObject(call, asked, () => known(call, serving));
  const object = namedAs(inNamespace(sent, call.route), call.route.name as string);
  let isNew = false;
  const change = (current: KindObject | undefined): KindObject => {
    isNew = current === undefined;
    if (!current) return first(call, serving, object);
    checkObjectWrite(call, { next: object, current }, serving.lookup);
    checkVersion(call, object.metadata.resourceVersion);
    checkDeletion(call, object, current);
    call.warnings.push(...finalizerWarnings(object, current));
    const next = checkedForm(call.route, object, current);
    return isVersioned(object) ? next : withVersion(next, current);
  };
  const options = atFrontDoor(call, serving, trackedWrite(call, asked, serving));
  const stored = await serving.store.modify(key, change, options);
  return objectAnswer(call, serving.shown(call.route.resource, stored), { status: isNew ? 201 : 200, clock: serving.clock });
}

/** What was not there is created where the kind has it so; then the version it was thought to have counts for nothing. */
function first(call: Call, { store, lookup }: Serving, object: KindObject): KindObject {
  if (!call.route.resource.stored?.isCreatedByUpdate || call.route.subresource) throw new NotFoundError('not found');
  checkObjectWrite(call, { next: object }, lookup);
  checkNamespace(store, call.route, object.metadata.name);
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return checkedForm(call.route, { ...object, metadata: metadata as KindObject['metadata'] });
}

/** Compared with what is sent, so only where both have the same form. */
function known({ route }: Call, { store }: Serving): KindObject | undefined {
  return route.resource.stored?.apiVersion === apiVersionOf(route.resource) ? store.get(keyOfRoute(route)) : undefined;
}
