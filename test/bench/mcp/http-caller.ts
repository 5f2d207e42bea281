/** A client over HTTP, one request at a time on one connection, with the session that it was given. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BenchError } from '../harness/operation.ts';
import { INITIALIZE, INITIALIZED } from './messages.ts';

export interface HttpServer {
  readonly url: string;
  /** Of a server with a certificate of its own. */
  readonly ca?: string;
  readonly token?: string;
}

export class HttpCaller {
  readonly #server: HttpServer;
  readonly #agent: HttpAgent;
  #session: string | undefined;

  private constructor(server: HttpServer) {
    this.#server = server;
    this.#agent = server.ca === undefined ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true, ca: server.ca });
  }

  static async start(server: HttpServer): Promise<HttpCaller> {
    const caller = new HttpCaller(server);
    const answer = await caller.exchange(INITIALIZE);
    if (!answer.includes('"serverInfo"')) throw new BenchError(`no server: ${answer.slice(0, 200)}`);
    await caller.exchange(INITIALIZED);
    return caller;
  }

  /** The body of the answer: JSON, or one event with it. */
  exchange(line: string): Promise<string> {
    const { url, token, ca } = this.#server;
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(line),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
    };
    const options: RequestOptions = { method: 'POST', headers, agent: this.#agent };
    return new Promise((resolve, reject) => {
      const sent = (ca === undefined ? httpRequest : httpsRequest)(url, options, (response) => this.#read(response, resolve, reject));
      sent.on('error', reject);
      sent.end(line);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #read(response: IncomingMessage, resolve: (body: string) => void, reject: (error: Error) => void): void {
    const session = response.headers['mcp-session-id'];
    if (typeof session === 'string') this.#session = session;
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    response.on('end', () => resolve(body));
    response.on('error', reject);
  }
}
