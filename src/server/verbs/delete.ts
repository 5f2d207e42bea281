/** delete and deletecollection. */
import { isCode } from '#lib/errors.ts';
import { listAnswer, objectAnswer } from '../answer.ts';
import { checkObjectWrite } from '../authorised.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { deleteAsked } from '../delete-options.ts';
import { toStatusError } from '../errors.ts';
import { keyOfRoute } from '../key.ts';
import { checkListOptions, listOptions } from '../list-options.ts';
import { pageOf } from '../page.ts';
import type { Resource } from '../resources.ts';
import { failure, success } from '../status.ts';
import { notFound, visibility } from './read.ts';

export async function deleteObject(call: Call, serving: Serving): Promise<Answer> {
  const { request, dryRun } = await deleteAsked(call);
  const key = keyOfRoute(call.route);
  const current = serving.store.get(key);
  if (!current) throw notFound(call);
  checkObjectWrite(call, { current }, serving.lookup);
  refuseDefaultNamespace(call.route.resource, key.name);
  const marked = await serving.store.delete(key, request, { dryRun });
  if (marked) return objectAnswer(call, serving.shown(call.route.resource, marked), { clock: serving.clock });
  const { plural, group } = call.route.resource;
  const details = { name: key.name, ...(group ? { group } : {}), kind: plural, uid: current.metadata.uid };
  return { status: 200, body: JSON.stringify(success(details)) };
}

function refuseDefaultNamespace({ kind }: Resource, name: string): void {
  if (kind !== 'Namespace' || name !== 'default') return;
  throw failure(403, 'namespaces "default" is forbidden: this namespace may not be deleted', { details: { name, kind: 'namespaces' } });
}

/** Everything the selectors find, as it was; what goes away meanwhile needs no deleting. */
export async function deleteCollection(call: Call, serving: Serving): Promise<Answer> {
  const { request, dryRun } = await deleteAsked(call);
  const options = listOptions(call.route, call.query);
  checkListOptions(options);
  const page = pageOf(serving.sourceOf(call.route.resource), options, visibility(call, serving));
  for (const object of page.items) {
    const key = { kind: call.route.resource.kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    try {
      checkObjectWrite(call, { current: object }, serving.lookup);
      await serving.store.delete(key, request, { dryRun });
    } catch (error) {
      if (!isCode(error, 'NotFound')) throw toStatusError(error, { resource: call.route.resource, ...key, verb: 'deletecollection' });
    }
  }
  return listAnswer(call, page, { clock: serving.clock });
}
