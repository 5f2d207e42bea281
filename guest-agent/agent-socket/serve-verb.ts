/** One request on the agent's socket: POST /<verb> with its params as JSON. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readObject } from '../http/body.ts';
import { HttpError } from '../http/http-error.ts';
import { sendJson, sendProblem } from '../http/reply.ts';
import type { MailReader } from './mail-reader.ts';
import type { Speaker, Verb } from './verbs.ts';

/** What a frame to the host holds, with room for what stands around it. */
const MAX_BODY_BYTES = 4 * 1024 * 1024 - 64 * 1024;

export interface VerbService {
  readonly verbs: ReadonlyMap<string, Verb>;
  readonly reader: MailReader;
  readonly speaker: Speaker;
}

export async function serveVerb(service: VerbService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = new AbortController();
  // Also after the answer is complete: then nobody listens any more.
  response.once('close', () => client.abort(new Error('the client has hung up')));
  try {
    const verb = findVerb(service.verbs, request);
    const fields = await readObject(request, MAX_BODY_BYTES);
    if (verb.isProof) await service.reader.acknowledgeGivenOut();
    const { result, onSent } = await verb.run(fields, service.speaker, client.signal);
    if (onSent !== undefined) response.once('finish', onSent);
    sendJson(response, { status: 200, body: result });
  } catch (error) {
    if (!client.signal.aborted) sendProblem(request, response, error);
  }
}

function findVerb(verbs: ReadonlyMap<string, Verb>, { method, url = '' }: IncomingMessage): Verb {
  const name = url.split('?', 1)[0]?.slice(1) ?? '';
  const verb = verbs.get(name);
  if (verb === undefined) {
    const hint = `there are ${[...verbs.keys()].join(', ')}`;
    throw new HttpError(404, { code: 'NotFound', message: `there is no verb ${JSON.stringify(name.slice(0, 100))}`, hint });
  }
  if (method === 'POST') return verb;
  const message = `${name} does not take ${method}`;
  throw new HttpError(405, { code: 'MethodNotAllowed', message, hint: 'send it with POST' }, { allow: 'POST' });
}
