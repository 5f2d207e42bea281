/** Runs scenarios against an API server and writes down what it answered. */
import http from 'node:http';
import https from 'node:https';
import { parse as parseYaml } from 'yaml';
import { at, type Remembered, type Request, type Scenario, type Step, substitute } from './scenario.ts';

export interface ConnectInfo {
  /** Root of the API; a path in it is kept as a prefix. Behind a socket path only its path counts. */
  readonly baseUrl: string;
  readonly socketPath?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of the certificate authority of an https server. */
  readonly ca?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: unknown;
}

export type Transcript = Record<string, Answer>;

export interface ExchangeOptions {
  readonly connect: ConnectInfo;
  /** Wait before steps that a cache could answer with old data. */
  readonly settleMs?: number;
}

const usualHeaders = ['content-type', 'warning', 'retry-after', 'allow', 'location'];
const answerTimeoutMs = 10_000;
const groups: Readonly<Record<string, readonly string[]>> = {
  '/apis/agentiso.dev/v1alpha1': ['teams', 'agents', 'tasks', 'merges'],
  '/api/v1': ['configmaps', 'events', 'namespaces'],
  '/apis/coordination.k8s.io/v1': ['leases'],
};
const resources = Object.entries(groups).flatMap(([group, plurals]) => plurals.map((plural) => [group, plural] as const));

/** Answers of all steps, by step name. Objects the scenario made are removed before and after. */
export async function runScenario(scenario: Scenario, options: ExchangeOptions): Promise<Transcript> {
  const transcript: Transcript = {};
  const remembered: Remembered = new Map();
  await removeObjects(scenario.name, options.connect);
  for (const step of scenario.steps) {
    if (step.settle === true && options.settleMs !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, options.settleMs));
    }
    const answer = await runStep(step, remembered, options.connect);
    for (const [name, pointer] of Object.entries(step.remember ?? {})) {
      const value = pointer.startsWith('header:') ? answer.headers[pointer.slice('header:'.length)] : at(answer.body, pointer);
      // The step itself shows what went wrong; later steps go on with a value that matches nothing.
      remembered.set(name, value === undefined ? `missing-${name}` : String(value));
    }
    if (step.silent === true) {
      continue;
    }
    transcript[step.name] = step.pick === undefined ? answer : { ...answer, body: pickSafely(step.pick, answer.body) };
  }
  await removeObjects(scenario.name, options.connect);
  return transcript;
}

function pickSafely(pick: (body: unknown) => unknown, body: unknown): unknown {
  try {
    return pick(body) ?? null;
  } catch (cause) {
    return { unpickable: String(cause), body };
  }
}

function runStep(step: Step, remembered: Remembered, connect: ConnectInfo): Promise<Answer> {
  const request = substitute(step.request, remembered);
  const meanwhile = (step.meanwhile ?? []).map((other) => substitute(other, remembered));
  return new Promise((resolve) => {
    const outgoing = open(request, connect);
    // A broken connection is an answer too: the other steps still count.
    const reject = (cause: unknown) => resolve({ status: 0, headers: {}, body: String(cause) });
    const timer = setTimeout(() => outgoing.destroy(new Error(`no full answer to ${request.method} ${request.path}`)), answerTimeoutMs);
    outgoing.on('error', (cause) => {
      clearTimeout(timer);
      reject(cause);
    });
    outgoing.once('response', (response) => {
      const events = new StepEvents(step, async () => {
        for (const other of meanwhile) {
          await send(other, connect);
        }
      });
      let text = '';
      const finish = () => {
        clearTimeout(timer);
        resolve(answerOf(response, text, step));
        outgoing.destroy();
      };
      response.setEncoding('utf8');
      events.see(text).catch(reject);
      response.on('data', (chunk: string) => {
        text += chunk;
        events.see(text).catch(reject);
        if (events.complete(text)) {
          finish();
        }
      });
      response.once('end', finish);
      response.on('error', reject);
    });
  });
}

/** Says when a watch has shown enough, and starts what is to happen meanwhile. */
class StepEvents {
  readonly #step: Step;
  readonly #start: () => Promise<void>;
  #started = false;

  constructor(step: Step, start: () => Promise<void>) {
    this.#step = step;
    this.#start = start;
  }

  async see(text: string): Promise<void> {
    if (!this.#started && lines(text).length >= (this.#step.initial ?? 0)) {
      this.#started = true;
      await this.#start();
    }
  }

  complete(text: string): boolean {
    return this.#step.events !== undefined && lines(text).length >= this.#step.events;
  }
}

/** Complete lines only. */
function lines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

function open(request: Request, connect: ConnectInfo): http.ClientRequest {
  const url = new URL(connect.baseUrl);
  const body = request.body === undefined || typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
  // Without it the agent below says that it closes, and such requests do not go the short way of the private socket.
  const headers: Record<string, string> = { 'user-agent': 'conformance/1.0', connection: 'keep-alive', ...connect.headers };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
  }
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  if (headers['content-type'] === '') {
    delete headers['content-type'];
  }
  if (body !== undefined) {
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  const options: https.RequestOptions = {
    method: request.method,
    path: url.pathname.replace(/\/$/, '') + request.path + queryText(request),
    headers,
    agent: false,
    ...(connect.ca === undefined ? {} : { ca: connect.ca }),
    ...(connect.socketPath === undefined ? { host: url.hostname, port: url.port } : { socketPath: connect.socketPath }),
  };
  const outgoing = url.protocol === 'https:' ? https.request(options) : http.request(options);
  outgoing.end(body);
  return outgoing;
}

function queryText(request: Request): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const one of typeof value === 'string' ? [value] : value) {
      query.append(name, one);
    }
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function answerOf(response: http.IncomingMessage, text: string, step: Step): Answer {
  const headers: Record<string, string | string[]> = {};
  for (const name of [...usualHeaders, ...(step.headers ?? [])]) {
    const values = response.headersDistinct[name];
    if (values !== undefined) {
      headers[name] = values.length === 1 ? (values[0] ?? '') : values;
    }
  }
  return { status: response.statusCode ?? 0, headers, body: parseBody(text, headers['content-type'], step) };
}

function parseBody(text: string, contentType: string | string[] | undefined, step: Step): unknown {
  const isWatch = step.events !== undefined || step.request.query?.['watch'] !== undefined || step.request.path.includes('/watch/');
  if (isWatch && text.startsWith('{"type"')) {
    return lines(text)
      .slice(0, step.events)
      .map((line) => JSON.parse(line) as unknown);
  }
  if (text === '') {
    return null;
  }
  if (String(contentType).includes('yaml')) {
    return { yaml: parseYaml(text) as unknown };
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function send(request: Request, connect: ConnectInfo): Promise<Answer> {
  return await runStep({ name: '', request }, new Map(), connect);
}

/** Deletes what has the prefix in its name, whatever finalizers it has. */
async function removeObjects(prefix: string, connect: ConnectInfo): Promise<void> {
  for (const [group, resource] of resources) {
    const list = await send({ method: 'GET', path: `${group}/${resource}` }, connect);
    const items = at(list.body, '/items');
    for (const item of Array.isArray(items) ? items : []) {
      const name = String(at(item, '/metadata/name'));
      if (!name.startsWith(`${prefix}-`)) continue;
      const namespace = at(item, '/metadata/namespace');
      await removeObject(`${group}${namespace === undefined ? '' : `/namespaces/${String(namespace)}`}/${resource}/${name}`, connect);
    }
  }
}

async function removeObject(path: string, connect: ConnectInfo): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } }, connect);
  const { body } = await send({ method: 'DELETE', path }, connect);
  // A server without controllers leaves it to us to say that a namespace is empty.
  if (at(body, '/kind') !== 'Namespace') return;
  const { apiVersion, kind, metadata } = body as Record<string, unknown>;
  await send({ method: 'PUT', path: `${path}/finalize`, body: { apiVersion, kind, metadata, spec: {} } }, connect);
}
