/** A small server on a unix socket that answers in the shapes of a Kubernetes API, and remembers what it was asked. */

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandContext, Environment } from './command.ts';
import { runCli } from './index.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  /** A watch: these lines, then the end. */
  readonly lines?: readonly unknown[];
  /** After the lines the stream stays open. */
  readonly isOpen?: boolean;
}

export type Answers = Readonly<Record<string, (asked: Asked) => Answer | undefined>>;

export interface ApiServer {
  readonly home: string;
  readonly asked: Asked[];
  /** Runs the command line against this server. */
  run(argv: readonly string[], options?: RunOptions): Promise<{ code: number; out: string; err: string }>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly environment?: Partial<Environment>;
  readonly onOut?: (text: string) => void;
}

export async function startApiServer(answers: Answers): Promise<ApiServer> {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-cli-'));
  mkdirSync(home, { recursive: true });
  const asked: Asked[] = [];
  const server = createServer((request, response) => void serve(request, response, { asked, answers }));
  server.listen(join(home, 'agentiso.sock'));
  await once(server, 'listening');
  return {
    home,
    asked,
    run: (argv, options) => runIn(home, argv, options),
    close: () => stop(server, home),
  };
}

export async function runIn(home: string | undefined, argv: readonly string[], { signal, environment, onOut }: RunOptions = {}) {
  const said = { out: '', err: '' };
  const context: CommandContext = {
    out: (text) => {
      said.out += text;
      onOut?.(text);
    },
    err: (text) => {
      said.err += text;
    },
    signal: signal ?? new AbortController().signal,
    version: '1.2.3',
    home,
    environment: { cwd: tmpdir(), userHome: tmpdir(), ...environment },
    startDaemon: () => Promise.reject(new Error('this test starts no daemon')),
  };
  return { code: await runCli(argv, context), ...said };
}

async function stop(server: Server, home: string): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(home, { recursive: true, force: true });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { asked, answers }: { asked: Asked[]; answers: Answers },
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const question = {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    accept: request.headers.accept ?? '',
    body,
  };
  asked.push(question);
  const answer = answers[url.pathname]?.(question) ?? notFound(url.pathname);
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
  if (answer.lines === undefined) {
    response.end(answer.text ?? JSON.stringify(answer.json));
    return;
  }
  response.flushHeaders();
  for (const line of answer.lines) response.write(`${JSON.stringify(line)}\n`);
  if (!answer.isOpen) response.end();
}

export function notFound(path: string, message = `the server could not find the requested resource (${path})`): Answer {
  return { status: 404, json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason: 'NotFound', code: 404 } };
}

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

function resource(plural: string, kind: string, more: object) {
  return {
    resource: plural,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs: VERBS,
    ...more,
  };
}

/** Discovery of two roots: namespaces and events, teams and tasks. */
export const DISCOVERY: Answers = {
  '/api': () => ({
    json: {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { creationTimestamp: null },
          versions: [
            {
              version: 'v1',
              resources: [
                resource('namespaces', 'Namespace', { scope: 'Cluster', shortNames: ['ns'] }),
                resource('events', 'Event', { shortNames: ['ev'] }),
              ],
            },
          ],
        },
      ],
    },
  }),
  '/apis': () => ({
    json: {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'agentiso.dev' },
          versions: [
            {
              version: 'v1alpha1',
              resources: [
                resource('teams', 'Team', {
                  shortNames: ['tm'],
                  categories: ['all', 'agentiso'],
                  subresources: [{ subresource: 'status' }],
                }),
                resource('tasks', 'Task', { shortNames: ['tk'], categories: ['all'] }),
              ],
            },
            { version: 'v1', resources: [resource('teams', 'Team', {}), resource('crews', 'Crew', {})] },
          ],
        },
        {
          metadata: { name: 'events.k8s.io' },
          versions: [{ version: 'v1', resources: [resource('events', 'Event', { shortNames: ['ev'] })] }],
        },
      ],
    },
  }),
};

export const TEAMS = '/apis/agentiso.dev/v1alpha1/namespaces/default/teams';
export const TASKS = '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks';

export function team(name: string, more: Record<string, unknown> = {}) {
  const { metadata, ...rest } = more as { metadata?: object };
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Team',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '7',
      creationTimestamp: '2024-01-01T00:00:00Z',
      ...metadata,
    },
    ...rest,
  };
}

export const COLUMNS = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Phase', type: 'string', priority: 0 },
  { name: 'Title', type: 'string', priority: 1 },
  { name: 'Age', type: 'date', priority: 0 },
];

export function tableOf(objects: readonly ReturnType<typeof team>[], more: object = {}) {
  const rows = objects.map((object) => ({ cells: [object.metadata.name, 'Ready', 'a title', '5m'], object }));
  return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' }, columnDefinitions: COLUMNS, rows, ...more };
}

export function listOf(objects: readonly object[], kind = 'TeamList') {
  return { apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { resourceVersion: '7' }, items: objects };
}
