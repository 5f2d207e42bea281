/** create: POST on a collection, or on the name that the object is to have. */
import { eventProblems } from '#api/event.ts';
import type { Draft, KindObject } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { objectAnswer } from '../answer.ts';
import { checkObjectWrite } from '../authorised.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { decodeObject, inNamespace, namedAs } from '../decode.ts';
import { toStatusError } from '../errors.ts';
import { storedForm } from '../forms.ts';
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
    const next = storedForm(call.route, object);
    checkEvent(next);
    const options = trackedWrite(call, asked, { store, ...serving });
    return await store.create(next as Draft, atFrontDoor(call, { store, ...serving }, options));
  } catch (error) {
    throw toStatusError(error, { resource: call.route.resource, name: object.metadata.name ?? '', verb: 'create' });
  }
}

/** Here and not where all events pass: our own know where they belong. */
function checkEvent(object: KindObject): void {
  const problems = object.kind === 'Event' ? eventProblems(object) : [];
  if (problems.length > 0) throw new InvalidError('the event is invalid', problems);
}
