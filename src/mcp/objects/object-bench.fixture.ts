/** A real API on a socket with the tools of objects called as a client calls them, and no controllers: the test says what becomes of objects. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '#api/limits.ts';
import type { KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/connection.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { silentLogger } from '#lib/log.ts';
import { createRates } from '#relay/create-rates.ts';
import { USUAL_RATES } from '#relay/rates.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { bench } from '../../../test/support/controllers.ts';
import { callTool } from '../call-tool.ts';
import { objectTools } from '../object-tools.ts';
import type { WorkspaceIo } from '../workspace-io.ts';

type Fields = Record<string, unknown>;

export interface Answered {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly answer: any;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly field?: string;
    readonly retry_after_ms?: number;
  };
  readonly texts: readonly string[];
}

export interface ObjectBench {
  /** Behind the API's back. */
  readonly client: Client;
  readonly progress: string[];
  readonly resources: string[];
  call(tool: string, input?: Fields, options?: { readonly role?: 'admin' | 'viewer'; readonly signal?: AbortSignal }): Promise<Answered>;
  setStatus(kind: string, name: string, status: object): Promise<KindObject>;
  end(): Promise<void>;
}

export interface BenchOptions {
  readonly createBurst?: number;
}

export async function openObjectBench({ createBurst = 1_000 }: BenchOptions = {}): Promise<ObjectBench> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-objects-'));
  const { client, store } = bench();
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', namespace: '' } });
  const api = createApi({
    store,
    limits: DEFAULT_LIMITS,
    log: silentLogger,
    tokens: { identityOf: (token) => (token === 'admin' || token === 'viewer' ? personIdentity(token, `an-${token}`) : undefined) },
    health: { checks: {} },
    metrics: () => '',
  });
  const server = createServer((request, response) => api.handle(request, response, {}));
  const socketPath = join(folder, 'api.sock');
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  const connection = socketConnection({ name: 'the test', socketPath });
  const rates = createRates({
    rates: { ...USUAL_RATES, default: { burst: 10_000, perMinute: 1 }, create: { burst: createBurst, perMinute: 1 } },
  });
  const progress: string[] = [];
  const resources: string[] = [];
  const calls = {
    tools: new Map(objectTools.map((tool) => [tool.name, tool])),
    rates,
    audit: {
      record: ({ resource }: { resource?: string }) => void resources.push(resource ?? ''),
      flush: async () => {},
      close: async () => {},
    },
    log: silentLogger,
    workspaces: {} as WorkspaceIo,
    homes: [],
  };
  return {
    client,
    progress,
    resources,
    async call(tool, input = {}, { role = 'admin', signal = new AbortController().signal } = {}) {
      const asker = { caller: { user: `an-${role}`, role }, connection: as(connection, role) };
      const told = { tell: (message: string) => void progress.push(message), end: () => {} };
      const result = await callTool(calls as never, asker, { name: tool, arguments: input, signal, progress: told });
      const texts = result.content.map(({ text }) => text);
      const last = JSON.parse(texts.at(-1) ?? 'null');
      return { texts, answer: result.isError ? undefined : last, ...(result.isError ? { error: last.error } : {}) };
    },
    async setStatus(kind, name, status) {
      const now = await client.get<KindObject>({ kind, namespace: 'default', name });
      return client.updateStatus({ ...now, status: { ...(now.status as object), ...status } });
    },
    async end() {
      connection.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function as(connection: Connection, token: string): Connection {
  return {
    ...connection,
    request: (request) => connection.request({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }),
  };
}
