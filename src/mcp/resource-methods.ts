/** `resources/*`: what there is by pages, one of them, and word of changes. */
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import { object, text } from '#protocol/shape.ts';
import { pageOf } from './paging.ts';
import type { Asking, Resource } from './resource.ts';
import { paramsOf } from './rpc-params.ts';
import type { Methods, Notify } from './server.ts';
import { Subscriptions } from './subscriptions.ts';
import { matchUri } from './uri-template.ts';

export interface OfferedResources {
  readonly resources: readonly Resource[];
  readonly resourceListChanges?: (asking: Asking) => AsyncIterable<void>;
}

export interface ResourceSession {
  readonly asking: (signal: AbortSignal) => Asking;
  readonly notify: Notify;
  /** Aborts with the session. */
  readonly signal: AbortSignal;
}

const pageParams = object({}, { cursor: text });
const uriParams = object({ uri: text });
/** Beside those of resources, which have a scheme. */
const LIST = 'list';

export function resourceMethods(
  { resources, resourceListChanges }: OfferedResources,
  { asking, notify, signal }: ResourceSession,
): Methods {
  const following = new Subscriptions(signal);
  const followList = () => {
    if (!resourceListChanges || following.has(LIST)) return;
    // Whoever asked for the list once is told when it is another one.
    void following
      .begin(
        LIST,
        (ends) => resourceListChanges(asking(ends)),
        () => notify({ method: 'notifications/resources/list_changed' }),
      )
      .catch(() => {});
  };
  return {
    'resources/list': async (params, extra) => {
      const { cursor } = paramsOf(pageParams, params);
      followList();
      const now = asking(extra.signal);
      const all = (await Promise.all(resources.map((resource) => resource.list(now)))).flat();
      const { items, nextCursor } = pageOf(all, ({ uri }) => uri, cursor);
      return { resources: items, ...(nextCursor !== undefined && { nextCursor }) };
    },
    'resources/templates/list': () => ({
      resourceTemplates: resources.map(({ uriTemplate, name, title, description, mimeType }) => ({
        uriTemplate,
        name,
        title,
        description,
        mimeType,
      })),
    }),
    'resources/read': async (params, extra) => {
      const { uri } = paramsOf(uriParams, params);
      const { resource, values } = resourceAt(resources, uri);
      return { contents: [{ uri, mimeType: resource.mimeType, text: await resource.read(values, asking(extra.signal)) }] };
    },
    'resources/subscribe': async (params) => {
      const { uri } = paramsOf(uriParams, params);
      const { resource, values } = resourceAt(resources, uri);
      await following.begin(
        uri,
        (ends) => resource.changes(values, asking(ends)),
        () => notify({ method: 'notifications/resources/updated', params: { uri } }),
      );
      return {};
    },
    'resources/unsubscribe': (params) => {
      following.end(paramsOf(uriParams, params).uri);
      return {};
    },
  };
}

function resourceAt(resources: readonly Resource[], uri: string) {
  for (const resource of resources) {
    const values = matchUri(resource.uriTemplate, uri);
    if (values) return { resource, values };
  }
  const known = resources.map(({ uriTemplate }) => uriTemplate).join(', ');
  if (!URL.canParse(uri))
    throw new AgentisoError('Invalid', `${JSON.stringify(uri.slice(0, 200))} is no address`, { hint: `addresses are ${known}` });
  throw new NotFoundError(`there is nothing at ${uri.slice(0, 200)}`, { hint: `addresses are ${known}` });
}
