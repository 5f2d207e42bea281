/** A program in the workspace, as far as it uses the agent's socket. */
import { once } from 'node:events';
import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: answers of every verb, looked at by assertions
type Json = any;

export interface SocketAnswer {
  readonly status: number;
  readonly json: Json;
}

export interface AskOptions {
  readonly method?: string;
  readonly signal?: AbortSignal;
  readonly headers?: OutgoingHttpHeaders;
  /** Whose connections it uses; one of its own when absent. */
  readonly agent?: Agent;
}

/** `body`: sent as it is when it is text. */
export async function ask(socketPath: string, verb: string, body: unknown = {}, options: AskOptions = {}): Promise<SocketAnswer> {
  const { method = 'POST', signal, headers = {}, agent = false } = options;
  const sent = request({ socketPath, method, path: `/${verb}`, agent, headers, ...(signal && { signal }) });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A server that has refused a body hangs up while it is being sent.
  sent.on('error', () => {});
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString()) };
}
