/** One object and why it does not go on, asked of a server. */
import type { KindObject } from '#api/meta.ts';
import type { ApiResource } from '../discovery.ts';
import { withMeantName } from '../meant-name.ts';
import { getJson, resourcePath } from '../resource-api.ts';
import { type Explanation, explain } from './explain.ts';
import { type Asking, contentKinds, fetchSurroundings } from './surroundings.ts';
import { viewOf } from './view.ts';

export interface WhyQuestion {
  readonly resource: ApiResource;
  readonly name: string;
  readonly namespace: string;
  /** What there is besides: what a namespace holds may be of any of them. */
  readonly resources: () => Promise<readonly ApiResource[]>;
  /** For the commands that are named; those of a namespace have to lead into it. */
  readonly flagsFor: (namespace: string | undefined) => readonly string[];
}

/** Throws NotFound with the name that was probably meant. */
export async function why(asking: Asking, question: WhyQuestion): Promise<Explanation> {
  const { resource, name, namespace, resources, flagsFor } = question;
  const { connection, signal } = asking;
  const at = { namespace: resource.isNamespaced ? namespace : undefined, name };
  const found = await getJson(connection, resourcePath(resource, at), { signal }).catch(async (error: unknown) => {
    throw await withMeantName(error, { resource, ...at }, asking);
  });
  const object = found as unknown as KindObject;
  const isNamespace = object.kind === 'Namespace';
  const kinds = isNamespace ? { kinds: contentKinds(await resources()) } : {};
  const surroundings = await fetchSurroundings(asking, { namespace: isNamespace ? name : namespace, ...kinds });
  return explain(object, viewOf({ ...surroundings, flags: flagsFor(isNamespace ? name : undefined) }), new Date());
}
