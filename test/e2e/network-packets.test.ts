/** Real packets between real network namespaces: what the rules let through, and what they cut. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '#network/network.ts';
import {
  addressOf,
  MEMBERS,
  NAMES,
  type Name,
  NUMBER,
  POLICY,
  startTeams,
  TEAM,
  type TeamsLab,
  withTeam,
} from '../support/network-teams.ts';
import { type Lab, missingForPackets } from '../support/network-world.ts';
import { requires } from '../support/requirements.ts';

const missing = missingForPackets();

requires(missing === '', `packets: ${missing}`)('agents of several teams', () => {
  let lab: Lab;
  let agents: TeamsLab['agents'];
  let inRouter: TeamsLab['inRouter'];
  let inAgent: TeamsLab['inAgent'];
  let connect: TeamsLab['connect'];
  /** Of daemons that run on this machine beside the test: their mounts are in the copy of the table that the lab was given. */
  let others: readonly string[];

  const mounted = async () => (await lab.sh('grep nsfs /proc/mounts')).stdout.split('\n').filter(Boolean);

  beforeAll(async () => {
    ({ lab, agents, inRouter, inAgent, connect } = await startTeams());
    const own = (await lab.sh('ls /run/netns')).stdout.split('\n').filter(Boolean);
    others = (await mounted()).filter((line) => !own.some((name) => line.includes(` /run/netns/${name} `)));
  });

  beforeEach(() => lab.apply('main', POLICY));

  afterAll(() => lab?.stop());

  describe('reach each other', () => {
    const open: [number, number][] = [
      [TEAM.red, TEAM.red],
      [TEAM.blue, TEAM.blue],
      [TEAM.red, TEAM.child],
      [TEAM.red, TEAM.sibling],
      [TEAM.child, TEAM.grandchild],
    ];
    const teamOf = (name: Name) => MEMBERS.find(({ agent }) => agent === NUMBER[name])?.team;
    const isOpen = (from: Name, to: Name) =>
      open.some(([a, b]) => (teamOf(from) === a && teamOf(to) === b) || (teamOf(from) === b && teamOf(to) === a));
    const pairs = NAMES.flatMap((from) => NAMES.filter((to) => to !== from).map((to) => [from, to] as const));

    it('exactly inside a team and between parent and child, both ways', async () => {
      const before = await lab.counters('main');
      const seen = await Promise.all(pairs.map(async ([from, to]) => [from, to, await connect(from, to)] as const));
      expect(seen).toEqual(pairs.map(([from, to]) => [from, to, isOpen(from, to) ? 'open' : 'ECONNREFUSED']));
      const denied = pairs.filter(([from, to]) => !isOpen(from, to)).length;
      expect((await lab.counters('main')).deniedBetweenAgents - before.deniedBetweenAgents).toBe(denied);
    });

    it('on listed ports only, or on all of them and by every protocol when none is listed', async () => {
      expect(await connect('red1', 'red2', 9090)).toBe('ECONNREFUSED');
      expect(await connect('red1', 'child', 9090)).toBe('ECONNREFUSED');
      expect(await connect('blue1', 'blue2', 9090)).toBe('open');
      const udp = async (from: Name, to: Name) => agents[from].udpSend(await agents[from].udpOpen(), addressOf(to), 7000);
      expect([await udp('blue1', 'blue2'), await udp('red1', 'red2'), await udp('red1', 'blue1')]).toEqual(['open', 'silence', 'silence']);
      const ping = async (from: Name, to: Name) => (await inAgent(from, `ping -c1 -W1 ${addressOf(to)}`)).status;
      if ((await lab.sh('command -v ping')).status !== 0) return;
      expect(await ping('blue1', 'blue2')).toBe(0);
      expect(await ping('red1', 'red2')).not.toBe(0);
    });

    it('not at all when the team does not allow it, also not a child whose parent does', async () => {
      await lab.apply('main', withTeam(TEAM.child, { allowInterAgent: false }));
      expect([await connect('red1', 'child'), await connect('child', 'red1'), await connect('red1', 'red2')]).toEqual([
        'ECONNREFUSED',
        'ECONNREFUSED',
        'open',
      ]);
    });

    it('the same whether or not bridge netfilter is on: there is no bridge', async () => {
      const setting = '/proc/sys/net/bridge/bridge-nf-call-iptables';
      expect((await lab.sh('ip -d link show type bridge')).stdout).toBe('');
      if ((await lab.sh(`test -e ${setting}`)).status !== 0) return;
      for (const value of [0, 1]) {
        await inRouter(`sh -c 'echo ${value} > ${setting}'`);
        expect([await connect('red1', 'red2'), await connect('red1', 'blue1')]).toEqual(['open', 'ECONNREFUSED']);
      }
    });
  });

  describe('are kept in their place', () => {
    it('the host, the router and what lies outside refuse them and count it', async () => {
      const before = await lab.counters('main');
      expect(await agents.red1.connect('169.254.1.1', 22)).toBe('ECONNREFUSED');
      expect(await agents.red1.connect('203.0.113.10', 80)).toBe('ECONNREFUSED');
      expect(await agents.red1.connect('10.99.200.1', 8080)).toBe('ECONNREFUSED');
      const after = await lab.counters('main');
      expect([after.deniedHost - before.deniedHost, after.deniedEgress - before.deniedEgress]).toEqual([1, 2]);
      expect((await lab.sh('ip -o link')).stdout.trim().split('\n')).toHaveLength(1);
    });

    it('a packet with the address of another agent is dropped and counted, whatever that one may', async () => {
      const before = await lab.counters('main');
      await inAgent('red1', `ip addr add ${addressOf('blue1')}/32 dev eth0`);
      expect(await agents.red1.connect(addressOf('blue2'), 8080, addressOf('blue1'))).toBe('silence');
      expect(await agents.red1.connect(addressOf('red2'), 8080, addressOf('red1'))).toBe('open');
      await inAgent('red1', `ip addr del ${addressOf('blue1')}/32 dev eth0`);
      expect((await lab.counters('main')).spoofed).toBeGreaterThan(before.spoofed);
    });

    it('there is no IPv6 on a link, and what is sent by it all the same is dropped and counted', async () => {
      expect((await inAgent('blue1', 'ip -6 -o addr show dev eth0')).stdout).toBe('');
      for (const name of ['blue1', 'blue2'] as const) {
        await inAgent(name, `ip -6 addr add fd00::${NUMBER[name]}/128 dev eth0 nodad`);
        await inAgent(name, 'ip -6 route add fd00::/64 dev eth0');
        await agents[name].listen(8086, '::');
      }
      expect(await agents.blue1.connect(`fd00::${NUMBER.blue2}`, 8086)).not.toBe('open');
      expect((await inRouter('nft list counter inet agentiso ipv6')).stdout).toMatch(/packets [1-9]/);
    });

    it('each has its own address and hardware address', async () => {
      expect((await inAgent('red1', 'ip -o link show eth0')).stdout).toContain('52:54:00:00:00:02');
      expect((await inAgent('red1', 'ip -o -4 addr show dev eth0')).stdout).toContain('inet 10.99.0.2/32');
    });
  });

  describe('lose what was open when the permission goes', () => {
    const narrow: [string, Policy][] = [
      ['the team no longer allows it', withTeam(TEAM.red, { allowInterAgent: false })],
      ['the port is no longer listed', withTeam(TEAM.red, { allowedPorts: [9090] })],
      ['the agent it talks to leaves', { ...POLICY, members: MEMBERS.filter(({ agent }) => agent !== NUMBER.red2) }],
      [
        'the agent that began moves',
        { ...POLICY, members: MEMBERS.map((each) => (each.agent === NUMBER.red1 ? { ...each, team: TEAM.blue } : each)) },
      ],
    ];

    it.each(narrow)('TCP, at both ends: %s', async (_why, policy) => {
      const key = await agents.red1.hold(addressOf('red2'), 8080);
      expect(await agents.red1.poke(key)).toMatchObject({ end: '' });
      await vi.waitFor(async () => expect((await agents.red1.poke(key)).echoed).toBeGreaterThan(1));
      await lab.apply('main', policy);
      const { echoed } = await agents.red1.poke(key);
      await vi.waitFor(async () => expect((await agents.red1.poke(key)).end).toBe('ECONNRESET'), { timeout: 5_000 });
      expect((await agents.red1.poke(key)).echoed).toBe(echoed);
      expect(await connect('red1', 'red2')).toBe('ECONNREFUSED');
      await lab.apply('main', POLICY);
      expect(await connect('red1', 'red2')).toBe('open');
    });

    it('UDP, without waiting for the kernel to forget the flow', async () => {
      const key = await agents.blue1.udpOpen();
      const send = () => agents.blue1.udpSend(key, addressOf('blue2'), 7000);
      expect(await send()).toBe('open');
      await lab.apply('main', withTeam(TEAM.blue, { allowInterAgent: false }));
      expect(await send()).toBe('silence');
      await lab.apply('main', POLICY);
      expect(await send()).toBe('open');
    });
  });

  it('leave nothing when they go', async () => {
    await lab.removeLink('main', NUMBER.outsider);
    await lab.removeLink('main', NUMBER.outsider);
    expect(await lab.listLinks('main')).not.toContain(NUMBER.outsider);
    expect((await inRouter('ip -o link show type veth')).stdout).not.toContain(`ag${NUMBER.outsider}@`);
    expect(await connect('red1', 'red2')).toBe('open');
    await lab.destroy('main');
    expect(await lab.sh('ls /run/netns; ip -o link show type veth')).toMatchObject({ stdout: '' });
    expect((await mounted()).filter((line) => !others.includes(line))).toEqual([]);
  });
});
