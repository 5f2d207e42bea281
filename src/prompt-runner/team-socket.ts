/** Asks the guest over the agent's own socket, as every program of the workspace does. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

export type Ask = (verb: string, params: object) => Promise<Readonly<Record<string, unknown>>>;

export function teamSocket(socketPath: string): Ask {
  return async (verb, params) => {
    const sent = request({ socketPath, method: 'POST', path: `/${verb}`, agent: false, headers: { 'content-type': 'application/json' } });
    sent.end(JSON.stringify(params));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const answer = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    if (response.statusCode !== 200) throw new Error(`${verb}: ${answer['code']}: ${answer['message']}`);
    return answer;
  };
}
