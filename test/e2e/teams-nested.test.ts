/** Teams inside teams on a real daemon: budgets that hold in every version anybody can see, policy that only narrows, ends in good order. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Team } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { manifests } from '../support/cli.ts';
import { readKubeconfig } from '../support/daemon.ts';

const TEAMS = '/apis/agentiso.dev/v1alpha1/namespaces/default/teams';
const isolation = { driver: 'process' };
const roles = [{ name: 'one' }];
const nested = (parent: string | undefined, maxAgents: number, more: object = {}) => ({
  isolation,
  roles,
  budget: { maxAgents },
  ...(parent === undefined ? {} : { parent }),
  ...more,
});

describe('teams inside teams', () => {
  const home = new AgentsHome();
  let api: ApiClient;
  beforeAll(async () => {
    await home.start();
    api = apiClient(readKubeconfig(home.kubeconfig));
  });
  afterAll(async () => {
    api.close();
    await home.close();
  });

  /** As a person would with an editor: the front door is not asked, and controllers say what is wrong. */
  const byFile = (name: string, spec: object) => {
    const folder = join(home.home, 'resources', 'teams', 'default');
    mkdirSync(folder, { recursive: true });
    const document = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name, namespace: 'default' }, spec };
    writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(document));
  };
  const team = async (name: string): Promise<Team> => (await home.list('teams')).find(({ metadata }) => metadata.name === name);
  const says = (name: string, pattern: RegExp) =>
    vi.waitFor(async () => {
      const status = (await team(name))?.status;
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      expect(`${ready?.status} ${ready?.reason}: ${ready?.message}`).toMatch(pattern);
    }, WAIT);
  const gone = (...names: string[]) =>
    vi.waitFor(async () => {
      const left = (await home.list('teams')).map(({ metadata }) => metadata.name);
      expect(left.filter((name) => names.includes(name))).toEqual([]);
    }, WAIT);

  it('come up in any order, and go children first, past a team whose name begins like theirs', async () => {
    byFile('leaf', nested('sub', 1));
    await says('leaf', /^False ParentNotFound: there is no team sub /);
    byFile('sub', nested('top', 3));
    await home.create('Team', 'top', nested(undefined, 5));
    await home.create('Team', 'top-b', nested(undefined, 2));
    const agents = await home.ready(['leaf-one', 'sub-one', 'top-one', 'top-b-one']);
    for (const name of ['leaf', 'sub', 'top']) await says(name, /^True AgentsReady/);
    expect([(await team('leaf')).status?.depth, (await team('top')).status?.budget]).toMatchObject([
      2,
      { used: 1, reserved: 3, remaining: 1 },
    ]);
    const { resourceVersion } = (await api.call('GET', TEAMS)).json().metadata;
    const watch = await api.watch(`${TEAMS}?watch=true&resourceVersion=${resourceVersion}`);
    await home.delete('teams', 'top');
    await watch.next(({ type, object }) => type === 'DELETED' && object.metadata.name === 'top');
    expect(watch.events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name)).toEqual(['leaf', 'sub', 'top']);
    expect(watch.events.some(({ object }) => object.metadata.name === 'top' && object.status?.phase === 'Terminating')).toBe(true);
    watch.stop();
    const [other] = agents.filter(({ metadata }) => metadata.name === 'top-b-one');
    expect((await home.agents()).map(({ metadata, status }) => [metadata.uid, status?.pid])).toEqual([
      [other?.metadata.uid, other?.status?.pid],
    ]);
    await home.delete('teams', 'top-b');
    await gone('top-b');
  });

  it('are held when the parent or somebody further up has no room, and go on by themselves', async () => {
    await home.create('Team', 'root', nested(undefined, 10));
    byFile('wide', nested('root', 10));
    byFile('deep', nested('wide', 2));
    await says('wide', /^False QuotaExceeded: team root has no room for the 10 agents of team wide: .* 1 of its own; 9 remain$/);
    await says('deep', /^False QuotaExceeded: team root has no room for the 10 agents of team wide, and deep needs 2 of them$/);
    expect((await home.agents()).map(({ metadata }) => metadata.name)).toEqual(['root-one']);
    await home.change('teams', 'wide', { budget: { maxAgents: 4 } });
    await home.ready(['wide-one', 'deep-one']);
    await expect(home.change('teams', 'wide', { budget: { maxAgents: 2 } })).rejects.toThrow(
      /2 is not enough: 1 of its own, 2 set aside for deep.*expected 422/s,
    );
    await home.delete('teams', 'wide');
    await gone('wide', 'deep');
    await vi.waitFor(async () => expect((await team('root')).status?.budget).toEqual({ used: 1, reserved: 0, remaining: 9 }), WAIT);
    await home.delete('teams', 'root');
    await gone('root');
  });

  it('stand at level 3 at most', async () => {
    for (const [name, parent, maxAgents] of [
      ['l0', undefined, 9],
      ['l1', 'l0', 6],
      ['l2', 'l1', 4],
      ['l3', 'l2', 2],
    ] as const) {
      await home.create('Team', name, nested(parent, maxAgents));
    }
    await expect(home.create('Team', 'l4', nested('l3', 1))).rejects.toThrow(
      /spec.parent: Forbidden: it would be at level 4.*expected 422/s,
    );
    await home.ready(['l0-one', 'l3-one']);
    await home.delete('teams', 'l0');
    await gone('l0', 'l1', 'l2', 'l3');
  });

  it.each([1, 2, 3, 4, 5])('that race for the last places have them once, and no version shows more (round %i)', async (round) => {
    const [parent, ...children] = [`p${round}`, `x${round}`, `y${round}`] as const;
    await home.create('Team', parent, { isolation, roles, budget: { maxAgents: 10 } });
    const { resourceVersion } = (await api.call('GET', TEAMS)).json().metadata;
    const watch = await api.watch(`${TEAMS}?watch=true&resourceVersion=${resourceVersion}`);
    for (const name of children) byFile(name, nested(parent, 6));
    const refused = await watch.next(
      ({ object }) => (object as Team).status?.conditions?.some(({ reason }) => reason === 'QuotaExceeded') === true,
    );
    const loser = refused.object.metadata.name as string;
    const winner = children.find((name) => name !== loser) as string;
    await home.ready([`${winner}-one`]);
    await says(loser, new RegExp(`^False QuotaExceeded: team ${parent} has no room for the 6 agents of team ${loser}: .*3 remain$`));
    expect((await home.agents()).some(({ metadata }) => metadata.name === `${loser}-one`)).toBe(false);
    await home.delete('teams', winner);
    await home.ready([`${loser}-one`]);
    const sums = watch.events
      .filter(({ object }) => object.metadata.name === parent)
      .map(({ object }) => ((object as Team).status?.budget?.reservations ?? []).reduce((sum, { maxAgents }) => sum + maxAgents, 1));
    watch.stop();
    expect(Math.max(...sums)).toBe(7);
    await home.delete('teams', parent);
    await gone(parent, ...children);
  });

  it.each([1, 2, 3])('that are created at one moment have the last places once, whoever refuses the other (round %i)', async (round) => {
    const [parent, ...children] = [`q${round}`, `v${round}`, `w${round}`] as const;
    await home.create('Team', parent, { isolation, roles, budget: { maxAgents: 10 } });
    const created = await Promise.allSettled(children.map((name) => home.create('Team', name, nested(parent, 6))));
    const stored = children.filter((_, index) => created[index]?.status === 'fulfilled');
    for (const { reason } of created.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]) {
      expect(String(reason)).toMatch(/team q\d has no room for the 6 agents of [vw]\d.* 3 remain.*\(QuotaExceeded\)/s);
    }
    await vi.waitFor(async () => {
      const all = await Promise.all(stored.map(team));
      const reasons = all.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason);
      expect(reasons.filter((reason) => reason === 'AgentsReady')).toHaveLength(1);
      expect(reasons.filter((reason) => reason === 'QuotaExceeded')).toHaveLength(stored.length - 1);
    }, WAIT);
    expect((await team(parent)).status?.budget).toMatchObject({ used: 1, reserved: 6, remaining: 3 });
    await home.delete('teams', parent);
    await gone(parent, ...children);
  });

  it('cannot ask for more than their parent, nor join one that is going', async () => {
    await home.create('Team', 'strict', nested(undefined, 5, { network: { allowDomains: ['*.example.com'] }, subTeams: 'Lead' }));
    await expect(home.create('Team', 'greedy', nested('strict', 1))).rejects.toThrow(
      /spec.subTeams: Invalid value: \\"Any\\": a sub-team cannot have more than its parent: team strict has Lead.*expected 422/s,
    );
    const modest = { subTeams: 'None', network: { allowDomains: ['a.example.com'] } };
    await home.create('Team', 'modest', nested('strict', 1, modest));
    await expect(home.change('teams', 'modest', { network: { allowDomains: ['a.example.org'] } })).rejects.toThrow(
      /spec.network.allowDomains\[0\]: Invalid value: .*team strict has \*.example.com.*expected 422/s,
    );
    await home.change('teams', 'strict', { network: { allowDomains: null } });
    const [event] = await vi.waitFor(async () => {
      const events = await home.events('PolicyRestricted');
      expect(events).toHaveLength(1);
      return events;
    }, WAIT);
    expect([event.involvedObject.name, event.message]).toEqual([
      'modest',
      'asked for and not in force: spec.network.allowDomains[0] "a.example.com" (team strict has none)',
    ]);
    await home.change('teams', 'modest', { description: 'may still be changed' });
    const hold = { metadata: { finalizers: ['agentiso.dev/team', 'test/held'] } };
    await home.call('PATCH', `${TEAMS}/strict`, hold, { 'Content-Type': 'application/merge-patch+json' });
    await home.delete('teams', 'strict');
    await expect(home.create('Team', 'late', nested('strict', 1, modest))).rejects.toThrow(
      /its parent strict is being deleted.*expected 409/s,
    );
    await gone('modest');
    await home.call('PATCH', `${TEAMS}/strict`, { metadata: { finalizers: [] } }, { 'Content-Type': 'application/merge-patch+json' });
    await gone('strict');
  });
});

withSandboxes('a sub-team in sandboxes', () => {
  const home = new AgentsHome();
  beforeAll(() => home.start());
  afterAll(() => home.close());

  it('is cut off when its parent is narrowed, and goes before it', async () => {
    const open = { isolation: { driver: 'sandbox' }, network: { allowInterAgent: true } };
    await home.create('Team', 'top', { ...open, roles, budget: { maxAgents: 4 } });
    await home.create('Team', 'sub', { ...open, parent: 'top', roles: [{ name: 'one' }, { name: 'two' }], budget: { maxAgents: 2 } });
    const [, two] = await home.ready(['sub-one', 'sub-two', 'top-one']);
    const url = `${two?.status?.endpoints?.http}/health`;
    const reach = async () => (await requestsFrom(home, 'sub-one', [{ url }]))[0]?.status;
    expect(await reach()).toBe(200);
    await home.change('teams', 'top', { network: { allowInterAgent: false } });
    await vi.waitFor(async () => expect(await reach()).toBe(0), { ...WAIT, timeout: 5_000 });
    expect(
      conditionOf(
        (await home.list('teams')).find(({ metadata }) => metadata.name === 'sub'),
        'PolicyRestricted',
      ),
    ).toBe('True NarrowedByParent');
    await home.delete('teams', 'top');
    await vi.waitFor(async () => expect([await home.list('teams'), await home.agents()]).toEqual([[], []]), WAIT);
  });

  it('comes from the manifest that shows one', async () => {
    expect(await home.cli('apply', '-f', join(manifests, 'nested-teams.yaml'))).toMatchObject({ code: 0 });
    await home.ready(['product-lead', 'product-developer-1', 'product-developer-2', 'docs-writer', 'docs-editor']);
    const [docs, product] = await home.list('teams');
    expect([docs.status.depth, product.status.budget]).toMatchObject([1, { used: 3, reserved: 2, remaining: 1 }]);
    await home.delete('teams', 'product');
    await vi.waitFor(async () => expect([await home.list('teams'), await home.agents()]).toEqual([[], []]), WAIT);
  });
});
