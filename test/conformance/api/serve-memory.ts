/** Our API over a store in memory, without controllers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { admission, kinds } from '#api/kinds.ts';
import { localClient } from '#client/local.ts';
import { silentLogger } from '#lib/log.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { openPlainDoor } from '#server/plain/door.ts';
import { memoryStore } from '../../support/memory-store.ts';
import type { ServerUnderTest } from './replay.ts';

/** `onPlain`: as on the private socket, where plain requests do not come to node:http. It is called for each of them. */
export async function serveMemory({ onPlain }: { onPlain?: () => void } = {}): Promise<ServerUnderTest> {
  const log = silentLogger;
  const store = memoryStore({ kinds, admission });
  // As after a restart: what was before is not known any more.
  store.load([], 1_000);
  const stopping = new AbortController();
  const ours = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);
  await followNamespaces(localClient(store), ours, { signal: stopping.signal, log });
  const identity = personIdentity('admin', 'admin');
  const api = createApi({
    store,
    log,
    tokens: { identityOf: () => identity },
    health: { checks: { ping: () => undefined } },
    metrics: () => '',
  });
  const server = createServer((request, response) => api.handle(request, response, { identity }));
  if (onPlain) openPlainDoor(server, { api, channel: { identity }, idleMs: 60_000, onAsked: onPlain });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    connect: { baseUrl: `http://127.0.0.1:${port}` },
    async stop() {
      api.endWatches();
      stopping.abort();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
