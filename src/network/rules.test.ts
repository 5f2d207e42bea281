/** Real rules in a real kernel, in a namespace of the test's own: when they are read back, and when that is not needed. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { requires } from '../../test/support/requirements.ts';
import { Monitor } from './monitor.ts';
import type { Policy } from './network.ts';
import { Nft } from './nft.ts';
import { makeRouter, missingForRules, type RouterFixture } from './router.fixture.ts';
import { Rules } from './rules.ts';
import { NO_ELEMENTS, renderRuleset } from './ruleset.ts';
import { Session } from './session.ts';
import { Transactions } from './transactions.ts';

const missing = missingForRules();

const policyOf = (agents: number, allowCidrs: string[] = []): Policy => ({
  teams: [{ team: 1, allowInterAgent: true, allowedPorts: [8080], allowInternet: false, allowCidrs }],
  members: Array.from({ length: agents }, (_, index) => ({ agent: 2 + index, team: 1 })),
});

requires(missing === '', `rules: ${missing}`)('rules', () => {
  let router: RouterFixture;
  let nft: Nft;
  let monitor: Monitor;
  let session: Session;
  let rules: Rules;
  let reads = 0;
  let drifts: string[] = [];
  let foreign = 0;
  /** Happens once, right before or after our next transaction. */
  let before: (() => void) | undefined;
  let after: (() => void) | undefined;
  let hearingMs = 0;
  let isPidVisible = true;

  beforeEach(async () => {
    router = await makeRouter();
    const { tools, namespace } = router;
    nft = new Nft({ tools, namespace });
    await nft.apply(renderRuleset(NO_ELEMENTS));
    const shape = (await nft.list())?.shape ?? '';
    monitor = new Monitor({
      tools,
      namespace,
      log: silentLogger,
      isOwn: (pid) => isPidVisible && nft.isOwn(pid),
      onForeignChange: () => foreign++,
    });
    session = new Session({ tools, namespace, onPid: (pid) => nft.remember(pid) });
    rules = new Rules({
      nft: {
        list: (signal) => {
          reads++;
          return nft.list(signal);
        },
      },
      transactions: interrupted(),
      shape,
      hostAddresses: () => ['192.0.2.1'],
      onDrift: (what) => drifts.push(what),
    });
    [drifts, before, after, hearingMs, isPidVisible] = [[], undefined, undefined, 5_000, true];
    monitor.start();
    await vi.waitFor(() => {
      router.nft('add table ip nudge; delete table ip nudge');
      expect(monitor.generation).toBeDefined();
    });
    await rules.apply(policyOf(1));
    await rules.apply(policyOf(2));
    [reads, foreign] = [0, 0];
  });

  afterEach(async () => {
    await monitor.close();
    await session.close();
    await router.close();
  });

  /** Transactions as they are, and others who come between. */
  function interrupted(): Pick<Transactions, 'generation' | 'send'> {
    return {
      get generation() {
        return monitor.generation;
      },
      async send(text, judge) {
        take('before')?.();
        const verdict = await new Transactions({ nft, session, monitor, hearingMs }).send(text, judge);
        take('after')?.();
        return verdict;
      },
    };
  }

  function take(when: 'before' | 'after'): (() => void) | undefined {
    const work = when === 'before' ? before : after;
    if (when === 'before') before = undefined;
    else after = undefined;
    return work;
  }

  const monitorPid = () => {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
    return Number(children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('monitor')));
  };
  const agents = () =>
    [...router.nft('list map inet agentiso team_of').matchAll(/10\.99\.0\.(\d+)/g)].map(([, agent]) => Number(agent)).sort();

  describe('are not read back', () => {
    it('when the next transaction is ours and did what it should: one agent more, one less, another team', async () => {
      await rules.apply(policyOf(3));
      expect(agents()).toEqual([2, 3, 4]);
      await rules.apply(policyOf(1));
      expect(agents()).toEqual([2]);
      await rules.apply({ ...policyOf(2), teams: policyOf(1).teams.flatMap((team) => [team, { ...team, team: 2, parent: 1 }]) });
      expect([reads, foreign, drifts]).toEqual([0, 0, []]);
    });

    it('when nothing is to be done and nobody did anything', async () => {
      await rules.apply(policyOf(2));
      expect(reads).toBe(0);
    });

    it('when a change is long: it goes by a process of its own', async () => {
      await rules.apply(policyOf(200));
      expect([agents().length, reads, foreign]).toEqual([200, 0, 0]);
    });

    it('when our pid is not the one that the kernel knows us by', async () => {
      isPidVisible = false;
      await rules.apply(policyOf(3));
      expect([agents(), reads, foreign]).toEqual([[2, 3, 4], 0, 0]);
    });
  });

  describe('are read back', () => {
    it('when somebody else came right before: what he did is found and put right', async () => {
      before = () => router.nft('insert rule inet agentiso forward_agents accept');
      await rules.apply(policyOf(3));
      expect(router.nft('list chain inet agentiso forward_agents')).not.toMatch(/^\s+accept$/m);
      expect([agents(), drifts]).toEqual([[2, 3, 4], ['rules of table inet agentiso were changed']]);
      expect(reads).toBeGreaterThan(0);
    });

    it('when somebody else came before and was heard', async () => {
      router.nft('delete element inet agentiso team_of { 10.99.0.2 }');
      await vi.waitFor(() => expect(foreign).toBe(1));
      await rules.apply(policyOf(3));
      expect([agents(), drifts]).toEqual([[2, 3, 4], ['team_of has 0 elements too many and 1 too few']]);
    });

    it('when somebody else was heard although nothing is to be done', async () => {
      router.nft('flush map inet agentiso team_of');
      await vi.waitFor(() => expect(foreign).toBe(1));
      await rules.apply(policyOf(2));
      expect([agents(), drifts]).toEqual([[2, 3], ['team_of has 0 elements too many and 2 too few']]);
    });

    it('at the next change when somebody else came after ours', async () => {
      after = () => router.nft('add element inet agentiso team_of { 10.99.0.9 : 1 }');
      await rules.apply(policyOf(3));
      expect(reads).toBe(0);
      await vi.waitFor(() => expect(foreign).toBe(1));
      await rules.apply(policyOf(4));
      expect([agents(), drifts]).toEqual([[2, 3, 4, 5], ['team_of has 1 elements too many and 0 too few']]);
    });

    it('when somebody else did the same first, and nft refuses', async () => {
      before = () => router.nft('delete element inet agentiso team_of { 10.99.0.3 }');
      await rules.apply(policyOf(1));
      expect(agents()).toEqual([2]);
      expect(reads).toBeGreaterThan(0);
    });

    it('when the monitor is late; once it has caught up, no longer', async () => {
      const pid = monitorPid();
      process.kill(pid, 'SIGSTOP');
      hearingMs = 5;
      await rules.apply(policyOf(3));
      expect([agents(), reads, drifts]).toEqual([[2, 3, 4], 1, []]);
      await rules.apply(policyOf(2));
      expect([agents(), reads]).toEqual([[2, 3], 2]);
      const last = monitor.generation ?? 0;
      process.kill(pid, 'SIGCONT');
      await vi.waitFor(() => expect(monitor.generation).toBe(last + 2));
      hearingMs = 5_000;
      await rules.apply(policyOf(3));
      reads = 0;
      await rules.apply(policyOf(2));
      expect([agents(), reads, foreign]).toEqual([[2, 3], 0, 0]);
    });

    it('when the monitor has ended', async () => {
      await monitor.close();
      hearingMs = 5;
      await rules.apply(policyOf(3));
      await rules.apply(policyOf(4));
      expect([agents(), reads]).toEqual([[2, 3, 4, 5], 2]);
    });

    it('when ranges change, of which the monitor cannot tell', async () => {
      hearingMs = 50;
      await rules.apply(policyOf(2, ['192.168.0.0/16']));
      expect(router.nft('list set inet agentiso egress_to')).toContain('192.168.0.0/16');
      expect(reads).toBeGreaterThan(0);
    });

    it('when they were forgotten', async () => {
      rules.forget();
      await rules.apply(policyOf(2));
      expect(reads).toBe(1);
    });

    it('by every check, which finds what nobody has heard of', async () => {
      await rules.apply(policyOf(3));
      process.kill(monitorPid(), 'SIGSTOP');
      router.nft('flush map inet agentiso team_of');
      hearingMs = 5;
      await rules.check();
      expect([agents(), drifts]).toEqual([[2, 3, 4], ['team_of has 0 elements too many and 3 too few']]);
    });
  });

  it('are made by a process for each transaction where nft has no sessions', async () => {
    await session.close();
    const { tools, namespace } = router;
    session = new Session({ tools: { ...tools, nft: '/bin/false' }, namespace, onPid: (pid) => nft.remember(pid) });
    await rules.apply(policyOf(3));
    expect([agents(), session.takes('')]).toEqual([[2, 3, 4], false]);
    reads = 0;
    await rules.apply(policyOf(4));
    expect([agents(), reads, drifts]).toEqual([[2, 3, 4, 5], 0, []]);
  });
});
