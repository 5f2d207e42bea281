/** `completion/complete`: what may stand in an argument of a prompt, or in a part of an address. */
import { map, object, text } from '#protocol/shape.ts';
import type { Prompt } from './prompt.ts';
import { promptNamed } from './prompt-methods.ts';
import type { Asking, Resource } from './resource.ts';
import { invalidParams } from './rpc-error.ts';
import { paramsOf } from './rpc-params.ts';
import type { Method } from './server.ts';

const completeParams = object(
  { ref: object({ type: text }, { name: text, uri: text }), argument: object({ name: text, value: text }) },
  { context: object({}, { arguments: map(text) }) },
);

/** MCP's own limit. */
const MAX_VALUES = 100;

export interface Completable {
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
}

export function completions(offer: Completable, asking: (signal: AbortSignal) => Asking): Method {
  return async (params, { signal }) => {
    const { ref, argument, context } = paramsOf(completeParams, params);
    const about = completed(offer, ref);
    const known = context?.arguments ?? {};
    const values = (await about.complete?.(argument.name, argument.value, asking(signal), known)) ?? [];
    return { completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES } };
  };
}

function completed(
  offer: Completable,
  { type, name = '', uri = '' }: { type: string; name?: string; uri?: string },
): Pick<Prompt, 'complete'> {
  if (type === 'ref/prompt') return promptNamed(offer.prompts, name);
  if (type !== 'ref/resource') throw invalidParams('ref.type must be ref/prompt or ref/resource');
  const resource = offer.resources.find(({ uriTemplate }) => uriTemplate === uri);
  if (!resource)
    throw invalidParams(`there is no template ${JSON.stringify(uri.slice(0, 200))}; resources/templates/list names all there are`);
  return resource;
}
