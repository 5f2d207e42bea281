/** The conformance suite asks for tools, resources and prompts by names of its own: here they become what a real server has. Pure. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export type Translate = (message: JSONRPCMessage) => JSONRPCMessage;

type Fields = Readonly<Record<string, unknown>>;

export interface RealNames {
  readonly tools?: Readonly<Record<string, { readonly name: string; readonly arguments: Fields }>>;
  readonly uris?: Readonly<Record<string, string>>;
  readonly prompts?: Readonly<Record<string, RealPrompt>>;
}

export interface RealPrompt {
  readonly name: string;
  /** By the name of the suite's argument. */
  readonly names?: Readonly<Record<string, string>>;
  /** In place of the suite's values. */
  readonly values?: Readonly<Record<string, string>>;
}

export function translation({ tools = {}, uris = {}, prompts = {} }: RealNames): Translate {
  const toReal: Readonly<Record<string, (params: Fields) => Fields>> = {
    'tools/call': (params) => ({ ...params, ...tools[String(params['name'])] }),
    'resources/read': (params) => withUri(params, uris),
    'resources/subscribe': (params) => withUri(params, uris),
    'resources/unsubscribe': (params) => withUri(params, uris),
    'prompts/get': (params) => withPrompt(params, prompts[String(params['name'])]),
    'completion/complete': (params) => withCompletion(params, prompts),
  };
  return (message) => {
    const { method, params } = message as { readonly method?: string; readonly params?: Fields };
    const change = method === undefined ? undefined : toReal[method];
    return change && params ? ({ ...message, params: change(params) } as JSONRPCMessage) : message;
  };
}

function withUri(params: Fields, uris: Readonly<Record<string, string>>): Fields {
  const { uri } = params;
  return { ...params, uri: uris[String(uri)] ?? uri };
}

function withPrompt(params: Fields, real: RealPrompt | undefined): Fields {
  if (!real) return params;
  const given = Object.entries((params['arguments'] ?? {}) as Record<string, string>);
  const renamed = Object.fromEntries(given.map(([name, value]) => [real.names?.[name] ?? name, value]));
  return { ...params, name: real.name, arguments: { ...renamed, ...real.values } };
}

function withCompletion(params: Fields, prompts: Readonly<Record<string, RealPrompt>>): Fields {
  const { ref, argument } = params as { readonly ref: { readonly name?: string }; readonly argument: { readonly name: string } };
  const real = prompts[ref.name ?? ''];
  if (!real) return params;
  return { ...params, ref: { ...ref, name: real.name }, argument: { ...argument, name: real.names?.[argument.name] ?? argument.name } };
}
