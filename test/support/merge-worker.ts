/**
 * A process that merges until it is killed: the merge controller over a store and repositories on disk. What agents have committed are branches
 * of a repository beside it. Arguments: HOME, the folder of the team, the repository of the agents, and the Merges to make, as JSON.
 * Says `merging NAME PHASE` for each change, `done` when all have landed, and ends.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, writeSync } from 'node:fs';
import { join } from 'node:path';
import { API_VERSION } from '#api/meta.ts';
import type { Agent, Merge, Team } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { mergeController } from '#controllers/merge/controller.ts';
import type { MergeDeps } from '#controllers/merge/deps.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { isCode } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import type { Controller, Key } from '#runtime/controller.ts';
import { createManager } from '#runtime/manager.ts';
import { newAgent, newTeam } from './controllers.ts';
import { openStore } from './store-home.ts';

export interface WantedMerge {
  readonly name: string;
  readonly spec: object;
}

const VERIFY_MS = 15;
const [home = '', folder = '', agents = '', wanted = '[]'] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const git = (...args: string[]) =>
  execFileSync('git', ['-C', agents, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

say('opening');
const { store } = await openStore(home);
const client = localClient(store);
const base = git('rev-parse', 'base');

const team = await ensure<Team>(newTeam('shop', { repo: { path: folder } }) as never, 'Team', 'shop');
for (const name of ['one', 'two']) {
  const agent = await ensure<Agent>(newAgent(`shop-${name}`, { team: 'shop' }) as never, 'Agent', `shop-${name}`);
  if (!agent.status?.git) await client.updateStatus<Agent>({ ...agent, status: { git: { forkBase: base } } });
}
const repositories = await openTeamRepositories(home);

const passed = new Map<string, boolean>();
const listeners = new Set<(key: Key) => void>();
const mergeVerifier: MergeDeps['mergeVerifier'] = {
  async verify({ kind, metadata }, commit) {
    const id = `${metadata.uid} ${commit}`;
    if (passed.get(id)) return { commit, passed: true, commands: [] };
    if (!passed.has(id)) setTimeout(() => ring(id, { kind, namespace: metadata.namespace, name: metadata.name }), VERIFY_MS);
    passed.set(id, false);
    return undefined;
  },
  forget: async () => undefined,
  wake: (enqueue) => {
    listeners.add(enqueue);
    return () => listeners.delete(enqueue);
  },
};

function ring(id: string, key: Key): void {
  passed.set(id, true);
  for (const listener of listeners) listener(key);
}

const work: MergeDeps['work'] = {
  async collect({ metadata, spec }) {
    const name = metadata.name.slice(spec.team.length + 1);
    const repository = await repositories.open({ ...team.metadata, source: { path: folder } });
    const head = git('rev-parse', name);
    // What was taken in and not published does not count: it is sent again, as a guest would.
    if ((await repository.resolve(`refs/heads/agents/shop/${name}`)) !== head) {
      const file = join(home, `${name}-${process.pid}-${Math.random()}.bundle`);
      git('bundle', 'create', '--quiet', file, `refs/heads/${name}`, `^${base}`);
      await repository.receive(createReadStream(file), { agentUid: metadata.uid, refOf: () => `refs/heads/agents/shop/${name}` });
    }
    return { state: 'collected', head, uncommittedFiles: [] };
  },
  target: () => Promise.reject(new Error('no agent is a target here')),
  land: () => Promise.reject(new Error('no agent is a target here')),
};

const notices: MergeDeps['notices'] = { tell: async () => undefined, withdraw: async () => undefined };
const controllers = [mergeController({ client, repositories, work, mergeVerifier, notices }) as unknown as Controller];
const stopping = new AbortController();
void createManager({ client, log: silentLogger, controllers, resyncMs: 1_000 }).start(stopping.signal);
say('open');
for (const { name, spec } of JSON.parse(wanted) as WantedMerge[]) {
  await ensure<Merge>({ apiVersion: API_VERSION, kind: 'Merge', metadata: { name, namespace: 'default' }, spec } as never, 'Merge', name);
}

const phases = new Map<string, string>();
for (;;) {
  const merges = store.list('Merge').items as Merge[];
  for (const { metadata, status } of merges) {
    const phase = `${status?.phase} ${status?.reason ?? ''}`;
    if (phases.get(metadata.name) !== phase) say(`merging ${metadata.name} ${phase}`);
    phases.set(metadata.name, phase);
  }
  if (merges.every(({ status }) => status?.phase === 'Merged')) break;
  await new Promise((resolve) => setTimeout(resolve, 5));
}
if (process.argv.includes('--delete')) {
  for (const { metadata } of store.list('Merge').items) await client.delete({ kind: 'Merge', namespace: 'default', name: metadata.name });
  while (store.list('Merge').items.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
say('done');
process.exit(0);

async function ensure<T extends Team | Agent | Merge>(draft: never, kind: T['kind'], name: string): Promise<T> {
  try {
    return await client.create<T>(draft);
  } catch (error) {
    if (!isCode(error, 'AlreadyExists')) throw error;
    return client.get<T>({ kind, namespace: 'default', name });
  }
}
