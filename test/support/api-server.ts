/**
 * The API on a home without controllers, as a process of its own: for what needs an agent's token, which only the process that serves can
 * issue, and for what needs a store that nobody but the test changes. Arguments: home, then agents as namespace/team/name.
 */
import { join } from 'node:path';
import { trackHandEdit } from '#api/fields/hand-edit.ts';
import { admission, kinds } from '#api/kinds.ts';
import { localClient } from '#client/local.ts';
import { createLogger } from '#lib/log.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { agentIdentity } from '#server/auth/identity.ts';
import { DirectoryStore } from '#store/directory.ts';
import { serveApi } from '../../src/daemon/serve-api.ts';

const [home = '', ...agents] = process.argv.slice(2);
const log = createLogger({ level: 'info', format: 'json' });
const directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false, trackEdit: trackHandEdit });
const stopping = new AbortController();
const ours = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);
await followNamespaces(localClient(directory.store), ours, { signal: stopping.signal, log });
const served = await serveApi({
  config: { home, logLevel: 'info' },
  store: directory.store,
  log,
  metrics: () => '',
  reconcileProblem: () => undefined,
});
const tokens: Record<string, string> = { viewer: await served.tokens.issue({ role: 'viewer', user: 'eve' }) };
for (const agent of agents) {
  const [namespace = '', team = '', name = ''] = agent.split('/');
  tokens[agent] = served.tokens.issueTransient(agentIdentity({ namespace, team, name }));
}
console.log(JSON.stringify({ kubeconfig: join(home, 'kubeconfig'), tokens }));
process.on('SIGTERM', async () => {
  await served.close();
  stopping.abort();
  await directory.close();
});
