/** create: POST on a collection, or on the name that the object is to have. */
import type { Draft, KindObject } from '#api/meta.ts';
import { objectAnswer } from '../answer.ts';
import { checkObjectWrite } from '../authorised.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { decodeObject, inNamespace, namedAs } from '../decode.ts';
import { toStatusError } from '../errors.ts';
import { checkedForm } from '../event-writes.ts';
import { finalizerWarnings } from '../metadata-warnings.ts';
import { checkNamespace } from '../namespaces.ts';
import { failure } from '../status.ts';
import { trackedWrite } from '../tracking.ts';
import { type WriteAsked, writeAsked } from '../write-options.ts';
import { atFrontDoor } from './front-door.ts';

export async function createObject(call: Call, serving: Serving): Promise<Answer> {
  const asked = writeAsked(call, 'CreateOptions');
  const sent = await decodeObject(call, asked);
  const { name } = call.route;
  const object = name === undefined ? inNamespace(sent, call.route) : namedAs(inNamespace(sent, call.route), name);
  if (object.metadata.resourceVersion) throw failure(500, 'resourceVersion should not be set on objects to be created', { reason: '' });
  checkObjectWrite(call, { next: object }, serving.lookup);
  checkNamespace(serving.store, call.route, object.metadata.name ?? '');
  call.warnings.push(...finalizerWarnings(object));
  const stored = await created(call, serving, object, asked);
  return objectAnswer(call, serving.shown(call.route.resource, stored), { status: 201, clock: serving.clock });
}

/** The URL does not name what is created, so what goes wrong is said here, with the name. */
async function created(call: Call, { store, ...serving }: Serving, object: KindObject, asked: WriteAsked): Promise<KindObject> {
  try {
    const next = checkedForm(call.route, object);
    const options = trackedWrite(call, asked, { store, ...serving });
    return await store.create(next as Draft, atFrontDoor(call, { store, ...serving }, options));
  } catch (error) {
    throw toStatusError(error, { resource: call.route.resource, name: object.metadata.name ?? '', verb: 'create' });
  }
}
