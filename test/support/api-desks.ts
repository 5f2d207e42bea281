/**
 * The API of a home with its desks for messages, notes and merges, and no controllers: nobody but the test changes anything. In the process
 * of the test, because only who serves can issue an agent's token.
 */
import { join } from 'node:path';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import { taskBoards } from '#controllers/task/boards.ts';
import { createTaskBook } from '#controllers/task/book.ts';
import { silentLogger as log } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { openMail } from '#mail/open-mail.ts';
import { openRelay } from '#relay/open-relay.ts';
import { EventLog } from '#runtime/events.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { agentIdentity } from '#server/auth/identity.ts';
import { DirectoryStore } from '#store/directory.ts';
import { openVault } from '#vault/open-vault.ts';
import { byUid } from '../../src/daemon/by-uid.ts';
import { createMergeDesk } from '../../src/daemon/desks/merge-desk.ts';
import { createMessageDesk } from '../../src/daemon/desks/message-desk.ts';
import { createVaultDesk } from '../../src/daemon/desks/vault-desk.ts';
import { serveApi } from '../../src/daemon/serve-api.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { readKubeconfig } from './daemon.ts';

export interface ApiHome {
  readonly client: Client;
  readonly api: ApiClient;
  /** Of an agent, as the role agent has it. */
  tokenOf(team: string, name: string): string;
  /** Everything that was written is on disk. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function openApiHome(home: string): Promise<ApiHome> {
  const directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false });
  const { store } = directory;
  const client = localClient(store);
  const stopping = new AbortController();
  await followNamespaces(client, ['Team'], { signal: stopping.signal, log });
  const mail = openMail({ directory: join(home, 'state', 'mail'), log });
  const vault = await openVault({ home, log });
  const agentByUid = byUid<Agent>(store, 'Agent');
  const teamByUid = byUid<Team>(store, 'Team');
  const silent = { incarnationOf: () => undefined, warn: () => {} };
  const relay = openRelay({ client, mail, log, metrics: new Metrics(), agentByUid, teamByUid, ...silent });
  const events = new EventLog({ client, log }).recorder('task');
  const taskBook = createTaskBook({ client, boards: taskBoards(client), events, canVerify: false });
  const served = await serveApi({
    config: { home, logLevel: 'silent' },
    store,
    log,
    metrics: () => '',
    reconcileProblem: () => undefined,
    desks: {
      messages: createMessageDesk({ post: relay.post, taskBook }),
      vault: createVaultDesk(vault),
      merges: createMergeDesk({ client, now: () => new Date() }),
    },
  });
  const api = apiClient(readKubeconfig(served.kubeconfig));
  return {
    client,
    api,
    tokenOf: (team, name) => served.tokens.issueTransient(agentIdentity({ namespace: 'default', team, name })),
    settled: () => directory.settled(),
    async close() {
      api.close();
      await served.close();
      relay.close();
      await mail.close();
      await vault.close();
      stopping.abort();
      await directory.close();
    },
  };
}
