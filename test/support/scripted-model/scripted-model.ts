/**
 * A model that does as it is told, on loopback: four protocols, whole and streamed. It keeps no state but a list of what it was asked, and
 * sends nothing anywhere.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, answerRequest, type Played } from './answer-request.ts';
import type { ServerEvent } from './protocol.ts';
import type { Scripts } from './script.ts';

export interface ScriptedModelOptions {
  readonly scripts?: Scripts;
  /** Only requests that carry one of them are answered, others get 401. Absent: nobody looks. */
  readonly keys?: readonly string[];
  /** Further requests are refused: an agent that never ends must not end the test run. */
  readonly maxRequests?: number;
  readonly now?: () => number;
}

export interface Hit extends Played {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<IncomingMessage['headers']>;
  readonly body: string;
  readonly status: number;
}

export interface ScriptedModel {
  readonly url: string;
  readonly port: number;
  /** In the order in which they came. */
  readonly hits: readonly Hit[];
  close(): Promise<void>;
}

export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { scripts = {}, keys, maxRequests = 1_000, now = Date.now } = options;
  const hits: Hit[] = [];
  const closing = new AbortController();
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method = 'GET', headers } = request;
    const path = new URL(request.url ?? '/', 'http://model').pathname;
    const asking = { method, path, body };
    const answer = refusedAtTheDoor() ?? answerRequest(asking, scripts, now());
    hits.push({ ...asking, headers, status: answer.status, ...answer.played });
    if (answer.delayMs > 0) await delay(answer.delayMs, undefined, { signal: closing.signal });
    write(response, answer);

    function refusedAtTheDoor(): Answer | undefined {
      const refuse = (status: number, message: string) => ({ status, content: { json: { error: { message } } }, delayMs: 0, played: {} });
      if (hits.length >= maxRequests) return refuse(400, `more than ${maxRequests} requests`);
      if (keys === undefined || keys.includes(keyIn(headers) ?? '')) return undefined;
      return refuse(401, 'no key, or not the right one');
    }
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    hits,
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Each protocol has its own place for it. */
export function keyIn(headers: IncomingMessage['headers']): string | undefined {
  const own = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '');
  return Array.isArray(own) ? own[0] : own;
}

function write(response: ServerResponse, { status, headers, content }: Answer): void {
  if (content !== undefined && 'events' in content) {
    response.writeHead(status, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
    for (const event of content.events) response.write(eventText(event));
    response.end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(content === undefined ? undefined : JSON.stringify(content.json));
}

function eventText({ event, data }: ServerEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
