/** Merges in a memory store, with real repositories behind them: what agents have is branches of a folder. */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '#api/meta.ts';
import type { Agent, Merge, Team } from '#api/types.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { lines, TestRepository } from '#git/repository.fixture.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import type { Notice } from '#relay/notices.ts';
import { bench, newAgent, newTeam } from '../../test/support/controllers.ts';
import { mergeController } from './controller.ts';
import type { CommitVerification, MergeDeps } from './deps.ts';

export type MergeBench = Awaited<ReturnType<typeof mergeBench>>;

/** Team `shop` with its agents, all of whom start from the same commit of the folder `work`. */
export async function mergeBench(agents: readonly string[] = ['one', 'two']) {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-merge-'));
  const work = new TestRepository();
  const base = work.commit('base', { 'a.txt': lines(20), 'b.txt': lines(20) });
  const here = bench();
  const notices: Notice[] = [];
  const repositories = await openTeamRepositories(home);
  const asked: { commit: string; commands: readonly string[] }[] = [];
  const world = {
    uncommitted: [] as string[],
    /** What verify gives at a commit; undefined while it runs. */
    verify: (_commit: string): Omit<CommitVerification, 'commit'> | undefined => undefined,
    isForgotten: new Set<string>(),
  };

  async function addTeam(name: string, spec: object, members: readonly string[]): Promise<void> {
    await here.client.create<Team>(newTeam(name, { roles: members.map((member) => ({ name: member })), ...spec }) as never);
    for (const member of members) {
      const agent = await here.client.create<Agent>(newAgent(`${name}-${member}`, { team: name }) as never);
      await here.client.updateStatus<Agent>({ ...agent, status: { git: { forkBase: base } } });
    }
  }
  await addTeam('shop', { repo: { path: work.directory } }, agents);

  async function repositoryOf(team = 'shop'): Promise<TeamRepository> {
    const { metadata, spec } = here.get<Team>('Team', team) as Team;
    return repositories.open({ ...metadata, source: spec.repo?.path ? { path: spec.repo.path } : {} });
  }

  /** As it would come from a workspace: as a bundle. */
  async function save({ metadata, spec }: Agent): Promise<string> {
    const name = metadata.name.slice(spec.team.length + 1);
    const repository = await repositoryOf(spec.team);
    await repository.baseCommit();
    const head = work.head(name);
    const ref = `refs/heads/agents/${spec.team}/${name}`;
    const [known, root] = [await repository.resolve(head), await repository.resolve(base)];
    if (known !== undefined) await repository.update([{ ref, to: head }]);
    else {
      const file = join(home, `${name}.bundle`);
      work.git('bundle', 'create', '--quiet', file, `refs/heads/${name}`, ...(root === undefined ? [] : [`^${base}`]));
      await repository.receive(createReadStream(file), { agentUid: metadata.uid, refOf: () => ref });
    }
    return head;
  }

  const deps: MergeDeps = {
    client: here.client,
    repositories,
    work: {
      collect: async (agent) => ({ state: 'collected', head: await save(agent), uncommittedFiles: world.uncommitted }),
      target: async () => ({ problem: 'TargetNotReady', message: 'agent shop-one does not run' }),
      land: async () => ({ state: 'landed' }),
    },
    mergeVerifier: {
      async verify(_merge, commit, commands) {
        const result = world.verify(commit);
        if (!asked.some((each) => each.commit === commit)) asked.push({ commit, commands });
        return result && { ...result, commit };
      },
      forget: async (uid) => void world.isForgotten.add(uid),
      wake: () => () => undefined,
    },
    notices: { tell: async (notice) => void notices.push(notice), withdraw: async () => undefined },
  };
  const controller = mergeController(deps);

  return {
    home,
    work,
    base,
    here,
    notices,
    repositories,
    asked,
    world,
    deps,
    controller,
    addTeam,
    repositoryOf,
    save: (name: string) => save(here.get<Agent>('Agent', name) as Agent),
    status: (name: string) => here.get<Merge>('Merge', name)?.status,
    newMerge(name: string, spec: object = {}): Promise<Merge> {
      const object = {
        apiVersion: API_VERSION,
        kind: 'Merge',
        metadata: { name, namespace: 'default' },
        spec: { team: 'shop', sources: agents.map((agent) => ({ agent })), target: { branch: 'main' }, ...spec },
      };
      return here.client.create<Merge>(object as never);
    },
    /** Passes over one merge until it rests. */
    async settle(name: string, using = controller): Promise<Merge['status']> {
      for (let pass = 0; pass < 12; pass += 1) {
        const { requeueAfterMs } = await here.reconcile(using, 'Merge', name);
        if (requeueAfterMs !== 0) break;
      }
      return here.get<Merge>('Merge', name)?.status;
    },
    /** Round after round over all of them until nothing changes any more, as their events would bring it about. */
    async settleAll(using = controller): Promise<Record<string, Merge['status']>> {
      for (let round = 0; round < 40; round += 1) {
        const before = JSON.stringify(here.store.list('Merge').items);
        for (const { metadata } of here.store.list('Merge').items) await here.reconcile(using, 'Merge', metadata.name);
        if (JSON.stringify(here.store.list('Merge').items) === before) break;
      }
      return Object.fromEntries((here.store.list('Merge').items as Merge[]).map(({ metadata, status }) => [metadata.name, status]));
    },
    /** One commit each, that changes lines of a.txt. */
    branches(changes: Readonly<Record<string, Readonly<Record<number, string>>>>): void {
      for (const [name, change] of Object.entries(changes)) {
        work.branch(name, base);
        work.commit(`${name}\n\nAgentiso-Task: shop-${name}-task`, { 'a.txt': lines(20, change) });
      }
      work.git('checkout', '-q', 'main');
    },
    close(): void {
      work.remove();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
