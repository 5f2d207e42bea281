/** The rules under real packets: how they change, and what happens when others change them or the daemon goes. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '#network/network.ts';
import {
  addressOf,
  hashOf,
  MEMBERS,
  NAMES,
  NUMBER,
  POLICY,
  startTeams,
  TEAM,
  TEAMS,
  type TeamsLab,
  team,
  withTeam,
} from '../support/network-teams.ts';
import { type Lab, missingForPackets } from '../support/network-world.ts';
import { requires } from '../support/requirements.ts';

const missing = missingForPackets();

requires(missing === '', `packets: ${missing}`)('rules of several teams', () => {
  let lab: Lab;
  let agents: TeamsLab['agents'];
  let router: string;
  let inRouter: TeamsLab['inRouter'];
  let connect: TeamsLab['connect'];

  beforeAll(async () => {
    ({ lab, agents, router, inRouter, connect } = await startTeams());
  });

  beforeEach(() => lab.apply('main', POLICY));

  afterAll(() => lab?.stop());

  describe('are changed in one transaction', () => {
    const watched = async (work: () => Promise<unknown>): Promise<number> => {
      const { stdout } = await lab.sh(`nsenter --net=${router} -- nft monitor > /run/trace 2>/dev/null & echo $!`);
      const pid = Number(stdout);
      // A change of somebody else's says that the monitor listens, and a second one that it has heard everything.
      const mark = async (name: string) => {
        await inRouter(`nft 'add table ip ${name}; delete table ip ${name}'`);
        return (await lab.sh(`grep -c 'table ip ${name}' /run/trace`)).stdout.trim();
      };
      await vi.waitFor(async () => expect(Number(await mark('begin'))).toBeGreaterThan(0), { timeout: 5_000 });
      await work();
      await vi.waitFor(async () => expect(Number(await mark('end'))).toBeGreaterThan(0), { timeout: 5_000 });
      await lab.sh(`kill ${pid}`);
      const generations = (await lab.sh('cat /run/trace')).stdout.split(/^# new generation .*$/m);
      return generations.filter((changes) => changes.includes('inet agentiso')).length;
    };

    it('whatever they touch, and none when nothing changes', async () => {
      const wide: Policy = {
        teams: [
          ...TEAMS.filter(({ team: number }) => number !== TEAM.blue),
          team(6, { allowCidrs: ['192.168.0.0/16'], allowInternet: true }),
        ],
        members: [...MEMBERS.slice(1), { agent: NUMBER.outsider, team: 6 }],
      };
      expect(await watched(() => lab.apply('main', wide))).toBe(1);
      expect(await watched(() => lab.apply('main', wide))).toBe(0);
    });

    it('shared by everybody who asks while one is under way; the newest policy is the one in force', async () => {
      const policies = Array.from({ length: 20 }, (_, i) => withTeam(TEAM.red, { allowedPorts: [8000 + i] }));
      expect(await watched(() => lab.applyAll('main', [...policies, withTeam(TEAM.red, { allowedPorts: [9090] })]))).toBeLessThanOrEqual(2);
      expect([await connect('red1', 'red2', 9090), await connect('red1', 'red2')]).toEqual(['open', 'ECONNREFUSED']);
    });

    it('of text that only we have written: ranges that overlap and stray bits are put in order', async () => {
      const allowCidrs = ['10.1.2.3/8', '10.0.0.0/8', '10.200.0.0/16', '192.168.7.9/32', '0.0.0.0/0'];
      await lab.apply('main', withTeam(TEAM.red, { allowCidrs }));
      await lab.apply('main', withTeam(TEAM.red, { allowCidrs: allowCidrs.slice(0, 4) }));
      expect((await inRouter('nft list set inet agentiso egress_to')).stdout).toMatch(/10\.0\.0\.0\/8,\s+0x00000001 \. 192\.168\.7\.9 }/);
    });
  });

  describe('are put right when somebody else changes the rules', () => {
    const nothingIsOpen = async () => expect(await connect('red1', 'blue1')).toBe('ECONNREFUSED');
    const restored = (before: number, what: RegExp) =>
      vi.waitFor(
        async () => {
          expect((await lab.drifts('main')).slice(before).join('\n')).toMatch(what);
          await nothingIsOpen();
          expect(await connect('red1', 'red2')).toBe('open');
        },
        { timeout: 10_000 },
      );

    it.each([
      ['a foreign rule that accepts', 'nft insert rule inet agentiso forward_agents accept', /rules of table .* changed/],
      [
        'an element that was deleted',
        'nft delete element inet agentiso team_of "{ 10.99.0.2 }"',
        /team_of has 0 elements too many and 1 too few/,
      ],
      ['an element that was added', 'nft add element inet agentiso open "{ 16777217 }"', /open has 1 elements too many/],
      ['a set that was flushed', 'nft flush set inet agentiso ports', /ports has 0 elements too many and 4 too few/],
      ['a chain that was flushed', 'nft flush chain inet agentiso between_agents', /rules of table/],
      ['a policy that was turned round', 'nft chain inet agentiso forward_agents "{ policy accept; }"', /rules of table/],
      ['a table that was put to sleep', 'nft add table inet agentiso "{ flags dormant; }"', /rules of table/],
      ['a table that was deleted', 'nft delete table inet agentiso', /missing/],
      ['a ruleset that was flushed', 'nft flush ruleset', /missing/],
    ])('%s', async (_what, command, expected) => {
      const before = (await lab.drifts('main')).length;
      const { status, stderr } = await inRouter(command);
      expect(status, stderr).toBe(0);
      await restored(before, expected);
    });

    it('and tables of others are left alone', async () => {
      await inRouter('nft add table ip theirs');
      await inRouter('nft add chain ip theirs count');
      const before = (await lab.drifts('main')).length;
      await inRouter('nft delete table inet agentiso');
      await restored(before, /missing/);
      expect((await inRouter('nft list table ip theirs')).stdout).toContain('chain count');
      await inRouter('nft delete table ip theirs');
    });

    it('also after the monitor was ended', async () => {
      const pid = await lab.monitorPid();
      await lab.sh(`kill -9 ${pid}`);
      const before = (await lab.drifts('main')).length;
      await inRouter('nft insert rule inet agentiso forward_agents accept');
      await restored(before, /rules of table/);
      await vi.waitFor(async () => expect(await lab.monitorPid()).not.toBe(pid));
    });

    it('a link that was deleted comes back', async () => {
      const before = (await lab.drifts('main')).length;
      await inRouter(`ip link del ag${NUMBER.red2}`);
      await inRouter("nft 'add table ip nudge; delete table ip nudge'");
      await restored(before, /links of 1 agents were gone/);
    });

    it('a router that was deleted comes back, and every link with it', async () => {
      const before = (await lab.drifts('main')).length;
      await lab.sh(`ip netns del agentiso-${hashOf('main')}`);
      await lab.apply('main', POLICY);
      await restored(before, /links of 8 agents were gone/);
    });
  });

  describe('survive the daemon', () => {
    it('links, rules and open connections stay when it goes, and the next one takes them over without a transaction', async () => {
      const key = await agents.red1.hold(addressOf('red2'), 8080);
      await lab.close('main');
      expect([await connect('red1', 'red2'), await connect('red1', 'blue1')]).toEqual(['open', 'ECONNREFUSED']);
      const handleOf = async () =>
        (await inRouter('nft -a list table inet agentiso')).stdout.match(/table inet agentiso { # handle (\d+)/)?.[1];
      const handle = await handleOf();
      await lab.create('main');
      for (const name of NAMES) await lab.ensureLink('main', NUMBER[name]);
      await lab.apply('main', POLICY);
      expect(await handleOf()).toBe(handle);
      expect(await lab.listLinks('main')).toEqual(NAMES.map((name) => NUMBER[name]));
      await vi.waitFor(async () => expect((await agents.red1.poke(key)).echoed).toBeGreaterThan(2));
      expect((await agents.red1.poke(key)).end).toBe('');
    });
  });
});
