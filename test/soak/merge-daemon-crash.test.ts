/**
 * kill -9 of a real daemon at random points of a merge of real sandboxes into a folder of a person. The checker is plain git: the folder is as it
 * was or complete, the next daemon finishes, and nothing is left over.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { seededRandom } from '../bench/harness/random.ts';
import { AgentsHome, withSandboxes } from '../support/agents-home.ts';
import { gitIn, makeSource } from '../support/work.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 40 : 4;
const UNDISTURBED = 2;
const ROUNDS = UNDISTURBED + KILLS;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const STRATEGIES = ['sequential', 'branch-per-source', 'cherry-pick'];
const AGENTS = ['one', 'two'] as const;
const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';
const LONG = { timeout: 120_000, interval: 20 };

withSandboxes('a merge whose daemon is killed', () => {
  const home = new AgentsHome();
  const random = seededRandom(SEED);
  let source: string;
  let repository: string;
  beforeAll(async () => {
    process.stdout.write(`seed ${SEED} (AGENTISO_SEED)\n`);
    source = join(home.folder, 'source');
    makeSource(source, { 'readme.txt': 'read me\n' });
    await home.start();
    const roles = AGENTS.map((name) => ({ name }));
    const { metadata } = await home.create('Team', 'shop', { isolation: { driver: 'sandbox' }, roles, repo: { path: source } });
    repository = join(home.home, 'repos', `${metadata.uid}.git`);
    await vi.waitFor(() => home.ready(AGENTS.map((name) => `shop-${name}`)), LONG);
  }, 60_000);
  afterAll(() => home.close(expect.anything()), 120_000);

  it(`is whole or not done after each of ${KILLS} kills, is finished by the next daemon, and leaves nothing`, async () => {
    // So that the kills fall into what is looked at, however fast this machine is. The first of all takes longest.
    const tookMs: number[] = [];
    for (let round = 0; round < UNDISTURBED; round++) {
      await commit(round);
      const startedMs = performance.now();
      await merge(round);
      await landed(round);
      tookMs.push(performance.now() - startedMs);
    }
    const durationMs = Math.min(...tookMs);
    let untouched = 0;
    for (let round = UNDISTURBED; round < ROUNDS; round++) {
      await commit(round);
      const before = gitIn(source, 'rev-parse', 'main');
      await merge(round);
      const afterMs = random() * durationMs;
      await delay(afterMs);
      await home.kill();
      // One look: a git that outlives its daemon by a moment may still move the branch, as a whole, between two.
      const main = gitIn(source, 'rev-parse', 'main');
      const there = AGENTS.filter((agent) => files(main).has(fileOf(round, agent)));
      const told = `seed ${SEED}, round ${round}, killed after ${Math.round(afterMs)} ms`;
      expect([0, AGENTS.length], told).toContain(there.length);
      if (there.length === 0) expect(main, told).toBe(before);
      untouched += Number(there.length === 0);
      await home.start();
      await landed(round);
      expect(gitIn(source, 'status', '--porcelain'), told).toBe('');
      expect(gitIn(source, 'fsck', '--strict', '--no-dangling'), told).toBe('');
    }
    expect([...files()].sort()).toEqual(['readme.txt', ...everything()].sort());
    await nothingIsLeft();
    console.info(`merges: ${KILLS} kills within ${Math.round(durationMs)} ms, ${untouched} of them before it had landed, seed ${SEED}`);
  });

  const fileOf = (round: number, agent: string) => `rounds/${round}/${agent}.txt`;
  const files = (commit = 'main') => new Set(gitIn(source, 'ls-tree', '-r', '--name-only', commit).split('\n'));
  const everything = () =>
    Array.from({ length: ROUNDS }, (_, round) => round).flatMap((round) => AGENTS.map((agent) => fileOf(round, agent)));

  async function commit(round: number): Promise<void> {
    await Promise.all(
      AGENTS.map((agent) => {
        const file = fileOf(round, agent);
        const script = `mkdir -p rounds/${round} && echo ${round} > ${file} && git add -A && git commit -qm 'round ${round}'`;
        return home.inside(`shop-${agent}`, 'sh', '-c', script);
      }),
    );
  }

  function merge(round: number): Promise<unknown> {
    const sources = AGENTS.map((agent) => ({ agent }));
    const verify = round % 3 === 2 ? { verify: ['true'] } : {};
    const spec = { team: 'shop', sources, target: { branch: 'main' }, strategy: STRATEGIES[round % STRATEGIES.length], ...verify };
    return home.call('POST', `${GROUP}/merges`, {
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Merge',
      metadata: { name: `m-${round}` },
      spec,
    });
  }

  async function landed(round: number): Promise<void> {
    await vi.waitFor(async () => {
      const { status } = await home.call('GET', `${GROUP}/merges/m-${round}`);
      expect(status?.phase, `seed ${SEED}, round ${round}: ${JSON.stringify(status)}`).toBe('Merged');
    }, LONG);
    for (const agent of AGENTS) expect(files()).toContain(fileOf(round, agent));
  }

  async function nothingIsLeft(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) await home.delete('merges', `m-${round}`);
    await vi.waitFor(async () => expect(await home.list('merges')).toEqual([]), LONG);
    const refs = gitIn(repository, 'for-each-ref', '--format=%(refname)').split('\n');
    const expected = /^refs\/(agentiso\/(source\/heads|bases?|wip|kept)\/|heads\/agents\/)/;
    expect(refs.filter((ref) => !expected.test(ref))).toEqual([]);
    for (const left of ['agentiso-scratch', 'agentiso-incoming', 'worktrees']) {
      const path = join(repository, left);
      expect(existsSync(path) ? readdirSync(path) : [], left).toEqual([]);
    }
    const locks = [repository, join(source, '.git')].flatMap((place) => readdirSync(place, { recursive: true }).map(String));
    expect(locks.filter((name) => name.endsWith('.lock'))).toEqual([]);
    expect(gitIn(source, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(gitIn(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  }
});
