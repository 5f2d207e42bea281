/** `prompts/list` and `prompts/get`. */
import { AgentisoError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { map, object, text } from '#protocol/shape.ts';
import type { Prompt } from './prompt.ts';
import type { Asking } from './resource.ts';
import { invalidParams } from './rpc-error.ts';
import { paramsOf } from './rpc-params.ts';
import type { Methods } from './server.ts';

const getParams = object({ name: text }, { arguments: map(text) });

export function promptMethods(prompts: readonly Prompt[], asking: (signal: AbortSignal) => Asking): Methods {
  return {
    'prompts/list': () => ({
      prompts: prompts.map(({ name, title, description, arguments: args }) => ({ name, title, description, arguments: args })),
    }),
    'prompts/get': async (params, { signal }) => {
      const { name, arguments: values = {} } = paramsOf(getParams, params);
      const prompt = promptNamed(prompts, name);
      const missing = prompt.arguments.find((each) => each.required && !Object.hasOwn(values, each.name));
      if (missing) throw invalidParams(`${name} needs the argument ${missing.name}: ${missing.description}`);
      const content = { type: 'text', text: await prompt.render(values, asking(signal)) };
      return { description: prompt.description, messages: [{ role: 'user', content }] };
    },
  };
}

export function promptNamed(prompts: readonly Prompt[], name: string): Prompt {
  const prompt = prompts.find((each) => each.name === name);
  if (prompt) return prompt;
  const near = nearest(
    name.slice(0, 100),
    prompts.map((each) => each.name),
  );
  throw new AgentisoError('Invalid', `there is no prompt ${JSON.stringify(name.slice(0, 100))}`, {
    hint: near === undefined ? 'prompts/list names all there are' : `did you mean ${near}?`,
  });
}
