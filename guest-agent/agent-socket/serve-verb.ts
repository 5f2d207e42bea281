/** One request on the agent's socket: POST /<verb> with its params as JSON, or MCP at /mcp. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_ASKED_BYTES, readObject } from '../http/body.ts';
import { HttpError } from '../http/http-error.ts';
import { sendJson, sendProblem } from '../http/reply.ts';
import { readerOf } from './readers.ts';
import { askVerb, type VerbService } from './verb-service.ts';
import type { Verb } from './verbs.ts';

const MCP = 'mcp';

export async function serveVerb(service: VerbService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = new AbortController();
  // Also after the answer is complete: then nobody listens any more.
  response.once('close', () => client.abort(new Error('the client has hung up')));
  try {
    const name = request.url?.split('?', 1)[0]?.slice(1) ?? '';
    if (name === MCP) {
      const { serveMcp } = await import('../mcp/serve-mcp.ts');
      return await serveMcp(service, request, response);
    }
    const verb = findVerb(service.verbs, name, request);
    const fields = await readObject(request, MAX_ASKED_BYTES);
    const { result, onSent } = await askVerb(service, verb, fields, { reader: readerOf(request), signal: client.signal });
    if (onSent !== undefined) response.once('finish', onSent);
    sendJson(response, { status: 200, body: result });
  } catch (error) {
    if (!client.signal.aborted) sendProblem(request, response, error);
  }
}

function findVerb(verbs: ReadonlyMap<string, Verb>, name: string, { method }: IncomingMessage): Verb {
  const verb = verbs.get(name);
  if (verb === undefined) {
    const hint = `there are ${[...verbs.keys()].join(', ')}; /${MCP} is for MCP clients`;
    throw new HttpError(404, { code: 'NotFound', message: `there is no verb ${JSON.stringify(name.slice(0, 100))}`, hint });
  }
  if (method === 'POST') return verb;
  const message = `${name} does not take ${method}`;
  throw new HttpError(405, { code: 'MethodNotAllowed', message, hint: 'send it with POST' }, { allow: 'POST' });
}
