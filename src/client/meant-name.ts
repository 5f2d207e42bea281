/** "Not found" with the name that was probably meant: names are often mistyped, or short where the full one is needed. */
import { shortName } from '#api/types.ts';
import { isObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import type { Connection } from './connection.ts';
import { type ApiObject, listObjects, type ResourceName } from './resource-api.ts';
import { isNotFound, StatusError } from './status-error.ts';

export interface MissingName {
  readonly resource: ResourceName;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Any other error as it is. */
export async function withMeantName(
  error: unknown,
  { resource, namespace, name }: MissingName,
  { connection, signal }: { readonly connection: Connection; readonly signal: AbortSignal },
): Promise<unknown> {
  if (!isNotFound(error) || !(error instanceof StatusError)) return error;
  const location = resource.isNamespaced ? { namespace } : {};
  const { items } = await listObjects(connection, { resource, location, signal });
  const names = items.map(({ metadata }) => metadata.name ?? '');
  const short = new Map(items.map((item, at) => [shortName(teamOf(item), names[at] ?? ''), names[at] ?? '']));
  const meant = short.get(name) ?? nearest(name, names) ?? short.get(nearest(name, [...short.keys()]) ?? '');
  if (meant === undefined) return error;
  return new StatusError({ ...error.status, message: `${error.message}; did you mean ${meant}?` });
}

function teamOf({ spec }: ApiObject): string {
  return isObject(spec) && typeof spec['team'] === 'string' ? spec['team'] : '';
}
