/** A program in the workspace that speaks MCP over HTTP, message by message. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: answers of every method, looked at by assertions
type Json = any;

export interface McpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** One message, or several where they came as events. */
  readonly messages: readonly Json[];
}

export interface McpRequest {
  readonly at: { readonly socketPath: string } | { readonly host: string; readonly port: number; readonly localAddress?: string };
  readonly headers?: OutgoingHttpHeaders;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

/** `body`: sent as it is when it is text. */
export async function postMcp(body: unknown, { at, headers = {}, method = 'POST', signal }: McpRequest): Promise<McpAnswer> {
  const sent = request({ ...at, method, path: '/mcp', agent: false, headers, ...(signal && { signal }) });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const parts = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : text === '' ? [] : [text];
  return { status: response.statusCode ?? 0, headers: response.headers, messages: parts.map((part) => JSON.parse(part)) };
}

let lastId = 0;

export function rpc(method: string, params: object = {}): object {
  lastId += 1;
  return { jsonrpc: '2.0', id: lastId, method, params };
}

export function toolCall(name: string, args: object = {}, meta?: object): object {
  return rpc('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
}
