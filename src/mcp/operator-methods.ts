/** What an operator's client can ask: tools, resources, prompts, completions. */
import type { Connection } from '#client/connection.ts';
import { remoteClient } from '#client/remote.ts';
import { anyFields, object, text } from '#protocol/shape.ts';
import { type ListedTool, toListed } from '#protocol/tool-surface.ts';
import { type Calls, callTool, ending, mayCall } from './call-tool.ts';
import { completions } from './completions.ts';
import { progressOf } from './progress.ts';
import type { Prompt } from './prompt.ts';
import { promptMethods } from './prompt-methods.ts';
import type { Asking, Resource } from './resource.ts';
import { resourceMethods } from './resource-methods.ts';
import { paramsOf } from './rpc-params.ts';
import type { Methods, Notify } from './server.ts';
import type { Caller, Tool } from './tool.ts';

/** All that is offered, the same for every session. */
export interface Offer extends Omit<Calls, 'tools'> {
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly prompts: readonly Prompt[];
  /** One item per change of which resources there are. */
  readonly resourceListChanges?: (asking: Asking) => AsyncIterable<void>;
}

export interface Operator {
  readonly caller: Caller;
  readonly connection: Connection;
  /** Aborts with the session. */
  readonly signal: AbortSignal;
}

export const OPERATOR_CAPABILITIES = {
  tools: {},
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
  logging: {},
};

/** Made once for all sessions; what it gives is made for one. */
export function operatorMethods(offer: Offer): (operator: Operator) => (notify: Notify) => Methods {
  const calls: Calls = { ...offer, tools: new Map(offer.tools.map((tool) => [tool.name, tool])) };
  const listed = listings(offer.tools);
  return (operator) => (notify) => {
    const asking = (signal: AbortSignal): Asking => {
      const connection = ending(operator.connection, signal);
      return { caller: operator.caller, connection, client: remoteClient(connection), workspaces: offer.workspaces, signal };
    };
    return {
      'tools/list': () => ({ tools: listed(operator.caller) }),
      'tools/call': (params, extra) => {
        const { name, arguments: given = {} } = paramsOf(callParams, params);
        return callTool(calls, operator, { name, arguments: given, signal: extra.signal, progress: progressOf(extra) });
      },
      ...resourceMethods(offer, { asking, notify, signal: operator.signal }),
      ...promptMethods(offer.prompts, asking),
      'completion/complete': completions(offer, asking),
    };
  };
}

const callParams = object({ name: text }, { arguments: anyFields });

/** Schemas are made from the parsers, once. */
function listings(tools: readonly Tool[]): (caller: Caller) => readonly ListedTool[] {
  const byRole = new Map<string, readonly ListedTool[]>();
  return (caller) => {
    const known = byRole.get(caller.role);
    if (known) return known;
    const made = tools.filter((tool) => mayCall(caller, tool)).map(toListed);
    byRole.set(caller.role, made);
    return made;
  };
}
