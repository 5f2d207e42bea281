/** The API without any client library: any method, path, header and body, and watches as lines. */
import * as http from 'node:http';
import * as https from 'node:https';

export interface ApiRequest {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape, looked at by assertions
  json(): any;
}

export interface WatchEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly object: any;
}

export interface ApiWatch {
  readonly events: WatchEvent[];
  /** Resolves with the first event that fits, also one that was there before; rejects when the stream ends without it. */
  next(fits: (event: WatchEvent) => boolean): Promise<WatchEvent>;
  /** Whether the answer came to its end, or was cut. */
  readonly ended: Promise<'complete' | 'cut'>;
  readonly response: http.IncomingMessage;
  stop(): void;
}

export interface ApiClient {
  call(method: string, path: string, options?: ApiRequest): Promise<ApiAnswer>;
  watch(path: string, options?: ApiRequest): Promise<ApiWatch>;
  close(): void;
}

/** Over HTTPS, or over a private socket, which needs no token and costs no encryption. */
export type ApiAddress = { host: string; port: number; ca: string; token: string } | { socketPath: string };

export function apiClient(address: ApiAddress): ApiClient {
  const isSecure = 'ca' in address;
  const own = isSecure ? address.token : '';
  const newAgent = (options: http.AgentOptions) => (isSecure ? new https.Agent({ ...options, ca: address.ca }) : new http.Agent(options));
  const agent = newAgent({ keepAlive: true, maxSockets: 64 });
  // A watch holds its connection, so it takes none that others wait for.
  const watching = newAgent({});
  // Without the name node would ask the certificate for whatever a test puts into the Host header.
  const where = isSecure ? { host: address.host, port: address.port, servername: 'localhost' } : { socketPath: address.socketPath };
  const open = (method: string, path: string, { headers, body, token = own }: ApiRequest, over: http.Agent) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
      const options: https.RequestOptions = {
        ...where,
        method,
        path,
        agent: over,
        headers: {
          ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
          ...(bytes === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) }),
          ...(headers as Record<string, string | string[]>),
        },
      };
      const sent = (isSecure ? https : http).request(options, resolve);
      sent.on('error', reject);
      sent.end(bytes);
    });
  return {
    async call(method, path, options = {}) {
      const response = await open(method, path, options, agent);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      return { status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) };
    },
    async watch(path, options = {}) {
      const response = await open('GET', path, options, watching);
      if (response.statusCode !== 200) throw new Error(`the watch of ${path} was answered with ${response.statusCode}`);
      return watchOf(response);
    },
    close() {
      agent.destroy();
      watching.destroy();
    },
  };
}

function watchOf(response: http.IncomingMessage): ApiWatch {
  const events: WatchEvent[] = [];
  const listeners = new Set<() => void>();
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) events.push(JSON.parse(line) as WatchEvent);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<'complete' | 'cut'>((resolve) => {
    response.on('error', () => {});
    response.on('close', () => resolve(response.complete ? 'complete' : 'cut'));
  });
  const next = (fits: (event: WatchEvent) => boolean) =>
    new Promise<WatchEvent>((resolve, reject) => {
      const look = () => {
        const found = events.find(fits);
        if (found) {
          listeners.delete(look);
          resolve(found);
        }
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`the watch ended before that event; it had ${JSON.stringify(events).slice(0, 2_000)}`)));
    });
  return { events, next, ended, response, stop: () => response.destroy() };
}
