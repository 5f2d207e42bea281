import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { httpConnection } from '#client/http-connection.ts';
import { localClient } from '#client/local.ts';
import { remoteClient } from '#client/remote.ts';
import { silentLogger } from '#lib/log.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../support/memory-store.ts';
import { type ClientUnderTest, clientConformance, HISTORY_LIMIT } from './client.ts';

async function newStore(): Promise<Store> {
  const store = memoryStore({ kinds, admission, historyLimit: HISTORY_LIMIT });
  for (const name of ['default', 'prod']) await store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, namespace: '' } });
  return store;
}

async function local(): Promise<ClientUnderTest> {
  const store = await newStore();
  return { client: localClient(store), watcherCount: () => store.watcherCount, dispose: async () => {} };
}

async function remote(): Promise<ClientUnderTest> {
  const store = await newStore();
  const idle = store.watcherCount;
  const api = createApi({ store, log: silentLogger, tokens: { identityOf: () => undefined }, health: { checks: {} }, metrics: () => '' });
  const identity = personIdentity('admin', 'admin');
  const server = createServer((request, response) => api.handle(request, response, { identity }));
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-client-'));
  const socketPath = join(folder, 's');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const connection = await httpConnection({ name: 'test', socketPath });
  return {
    client: remoteClient(connection),
    watcherCount: () => store.watcherCount - idle,
    async dispose() {
      connection.close();
      api.endWatches();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe('the local client', () => {
  clientConformance(local);
});

describe('the remote client', () => {
  clientConformance(remote);
});
