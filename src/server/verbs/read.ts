/** get and list. */
import type { KindObject } from '#api/meta.ts';
import { listAnswer, objectAnswer } from '../answer.ts';
import { listScope } from '../auth/authorise.ts';
import { canSee } from '../auth/visibility.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { checkListOptions, isVersion, listOptions } from '../list-options.ts';
import { pageOf, tooLarge } from '../page.ts';
import { qualifiedName } from '../resources.ts';
import { failure } from '../status.ts';

export function getObject(call: Call, serving: Serving): Answer {
  const { route, query, identity } = call;
  const { resource, namespace = '', name = '' } = route;
  const source = serving.sourceOf(resource);
  const asked = versionAsked(query.get('resourceVersion'));
  if (Number(asked) > source.resourceVersion()) throw tooLarge(asked, source.resourceVersion());
  const object = source.get(namespace, name);
  if (!object || !canSee(identity, object, serving.lookup)) throw notFound(call);
  return objectAnswer(call, object, { clock: serving.clock });
}

function versionAsked(text: string | null): string {
  if (text === null || text === '') return '0';
  if (isVersion(text)) return text;
  const quoted = JSON.stringify(text);
  throw failure(500, `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`, { reason: '' });
}

export function listObjects(call: Call, serving: Serving): Answer {
  const options = listOptions(call.route, call.query);
  checkListOptions(options);
  const page = pageOf(serving.sourceOf(call.route.resource), options, visibility(call, serving));
  return listAnswer(call, page, { clock: serving.clock });
}

/** Undefined: everything. */
export function visibility({ identity, route }: Call, { lookup }: Serving): ((object: KindObject) => boolean) | undefined {
  const { group, plural: resource } = route.resource;
  return listScope(identity, { group, resource }) === 'all' ? undefined : (object) => canSee(identity, object, lookup);
}

export function notFound({ route: { resource, name } }: Pick<Call, 'route'>) {
  return failure(404, `${qualifiedName(resource)} ${JSON.stringify(name)} not found`, {
    details: { ...(name ? { name } : {}), ...(resource.group ? { group: resource.group } : {}), kind: resource.plural },
  });
}
