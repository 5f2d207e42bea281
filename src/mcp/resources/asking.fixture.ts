/** A real API on a socket, with real mail, a real vault and agents that are folders; asked as an admin or as a viewer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/connection.ts';
import { remoteClient } from '#client/remote.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { silentLogger } from '#lib/log.ts';
import { openMail } from '#mail/open-mail.ts';
import { createPost } from '#relay/create-post.ts';
import type { Post } from '#relay/post.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { openVault } from '#vault/open-vault.ts';
import type { Vault } from '#vault/vault.ts';
import { bench, newAgent, newTask, newTeam } from '../../../test/support/controllers.ts';
import { type FakeAgentIo, fakeAgentIo } from '../../../test/support/fake-agent-io.ts';
import { createMessageDesk } from '../../daemon/desks/message-desk.ts';
import { createVaultDesk } from '../../daemon/desks/vault-desk.ts';
import type { Asking } from '../resource.ts';
import type { WorkspaceIo } from '../workspace-io.ts';

export interface World {
  /** Behind the API's back. */
  readonly client: Client;
  readonly post: Post;
  readonly vault: Vault;
  readonly agentIo: FakeAgentIo;
  /** Until the signal, or the end. */
  asking(role?: 'admin' | 'viewer', signal?: AbortSignal): Asking;
  setStatus(kind: 'Agent' | 'Task' | 'Merge' | 'Team', name: string, status: object): Promise<void>;
  end(): Promise<void>;
}

/** The team `shop` with two agents, three tasks and a merge; the team `shop-lab` of another namespace, whose name begins the same. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-reading-'));
  const ending = new AbortController();
  const { client, store } = bench();
  const mail = openMail({ directory: join(folder, 'mail'), log: silentLogger });
  const vault = await openVault({ home: folder, log: silentLogger });
  const agentIo = fakeAgentIo(join(folder, 'agents'));
  const agentByUid = (uid: string) => store.list('Agent').items.find(({ metadata }) => metadata.uid === uid) as Agent | undefined;
  const post = createPost({ client, mail, agentByUid });
  const taskBook = { decidePlan: () => Promise.reject(new Error('nobody decides here')) };
  const api = createApi({
    store,
    log: silentLogger,
    agentIo,
    tokens: { identityOf: (token) => (token === 'admin' || token === 'viewer' ? personIdentity(token, `an-${token}`) : undefined) },
    health: { checks: {} },
    metrics: () => '',
    desks: { messages: createMessageDesk({ post, taskBook }), vault: createVaultDesk(vault) },
  });
  const server = createServer((request, response) => api.handle(request, response, {}));
  const socketPath = join(folder, 'api.sock');
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  const connection = socketConnection({ name: 'the test', socketPath, maxSockets: 100 });
  await fill(client);
  return {
    client,
    post,
    vault,
    agentIo,
    asking(role = 'admin', signal = ending.signal) {
      const asked = as(connection, role);
      return {
        caller: { user: `an-${role}`, role },
        connection: asked,
        client: remoteClient(asked),
        workspaces: {} as WorkspaceIo,
        signal,
      };
    },
    async setStatus(kind, name, status) {
      const now = await client.get({ kind, namespace: 'default', name });
      await client.updateStatus({ ...now, status: { ...(now.status as object), ...status } });
    },
    async end() {
      ending.abort();
      connection.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
      await vault.close();
      await mail.close();
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

async function fill(client: Client): Promise<void> {
  await client.create<Team>(newTeam('shop', { description: 'Runs the shop.', roles: [{ name: 'coder', count: 2 }] }));
  for (const name of ['shop-coder-1', 'shop-coder-2']) await client.create<Agent>(newAgent(name, { team: 'shop', roleName: 'coder' }));
  await client.create<Task>(newTask('shop-design', { team: 'shop', title: 'Design | it', command: 'true' }));
  await client.create<Task>(newTask('shop-build', { team: 'shop', command: 'true', dependsOn: ['design'] }));
  await client.create<Task>(newTask('extra', { team: 'shop', command: 'true' }));
  await client.create<Merge>({
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Merge',
    metadata: { name: 'shop-first', namespace: 'default' },
    spec: { team: 'shop', sources: [{ agent: 'coder-1' }], target: { branch: 'main' } },
  } as unknown as Merge);
  const lab = newTeam('shop-lab', {});
  await client.create<Team>({ ...lab, metadata: { ...lab.metadata, namespace: 'lab' } });
}
