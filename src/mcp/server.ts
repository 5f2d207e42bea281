/**
 * One session of a client: the SDK speaks the protocol, and every request that is ours goes through one table of methods. Requests are
 * read by our own parsers: those of the SDK would look at every call and every answer twice.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerCapabilities, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from '#lib/log.ts';
import { methodNotFound, toRpcError } from './rpc-error.ts';

export type Params = Readonly<Record<string, unknown>>;
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
export type Method = (params: Params, extra: Extra) => object | Promise<object>;
export type Methods = Readonly<Record<string, Method>>;

export interface SessionOptions {
  readonly version: string;
  readonly instructions: string;
  readonly capabilities: ServerCapabilities;
  /** What it can be asked; `notify` sends what nobody asked for. */
  readonly methods: (notify: Notify) => Methods;
  readonly log: Logger;
  readonly homes: readonly string[];
  /** When the client is gone, or `close` was called. */
  readonly onClose: () => void;
}

export type Notify = (notification: { readonly method: string; readonly params?: Record<string, unknown> }) => Promise<void>;

export interface Session {
  close(): Promise<void>;
}

export async function openSession(transport: Transport, options: SessionOptions): Promise<Session> {
  const { version, instructions, capabilities, log } = options;
  const server = new Server(
    { name: 'agentiso', title: 'agentiso', version },
    { capabilities, instructions, jsonSchemaValidator: NO_FORMS },
  );
  const methods = new Map(Object.entries(options.methods((notification) => server.notification(notification))));
  server.fallbackRequestHandler = async ({ method, params = {} }, extra) => {
    const run = methods.get(method);
    if (!run) throw methodNotFound(method);
    try {
      return await run(params, extra as Extra);
    } catch (error) {
      throw toRpcError(error, options);
    }
  };
  server.onerror = (error) => log.debug({ err: error }, 'an MCP client sent what could not be used');
  server.onclose = options.onClose;
  await server.connect(transport);
  return { close: () => server.close() };
}

/** Nothing here asks the client to fill in a form, and to make the usual reader of forms takes longer than all the rest. */
const NO_FORMS = {
  getValidator: () => {
    throw new Error('no forms are used');
  },
};
