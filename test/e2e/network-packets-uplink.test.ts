/** Real packets out of the network: what a team with a way out reaches, and what it does not. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { team } from '../support/network-teams.ts';
import { type Agent, type Lab, missingForPackets, startLab } from '../support/network-world.ts';
import { requires } from '../support/requirements.ts';

const missing = missingForPackets();

requires(missing === '', `packets: ${missing}`)('a way out', () => {
  let lab: Lab;
  let internet: Agent;
  const agents: Agent[] = [];
  const INTERNET = '203.0.113.10';
  const LAN = '192.168.7.10';
  const OTHER_LAN = '192.168.8.10';
  const teams = [
    team(1, { allowInternet: true }),
    team(2, { allowCidrs: ['192.168.7.0/24'] }),
    team(3, { allowCidrs: ['0.0.0.0/0'] }),
    team(4),
  ];
  const members = teams.map(({ team: number }) => ({ agent: number + 1, team: number }));

  beforeAll(async () => {
    lab = await startLab();
    await lab.create('up', { uplink: true });
    // What the operator does on the host, and an internet behind it.
    const { status, stderr } = await lab.sh(
      [
        'set -e',
        'ip netns add internet',
        'ip link add out0 type veth peer name in0 netns internet',
        'ip addr add 203.0.113.1/24 dev out0',
        'ip link set out0 up',
        'ip -n internet link set lo up',
        'ip -n internet link set in0 up',
        `for a in ${INTERNET}/24 ${LAN}/32 ${OTHER_LAN}/32; do ip -n internet addr add $a dev in0; done`,
        'ip -n internet route add default via 203.0.113.1',
        'ip route add 192.168.0.0/16 via 203.0.113.10',
        'echo 1 > /proc/sys/net/ipv4/ip_forward',
      ].join('\n'),
    );
    expect(status, stderr).toBe(0);
    internet = await lab.enter('internet', '/run/netns/internet');
    await internet.listen(80);
    await Promise.all(
      members.map(async ({ agent }, index) => {
        const { namespace } = await lab.ensureLink('up', agent);
        agents[index] = await lab.enter(`agent${agent}`, namespace);
        await agents[index]?.listen(8080);
      }),
    );
    await lab.applyAll('up', [
      { teams, members },
      { teams, members },
    ]);
  });

  afterAll(() => lab?.stop());

  it.each([
    ['internet', 0, { internet: 'open', lan: 'ECONNREFUSED', otherLan: 'ECONNREFUSED' }],
    ['one range', 1, { internet: 'ECONNREFUSED', lan: 'open', otherLan: 'ECONNREFUSED' }],
    ['every range', 2, { internet: 'open', lan: 'open', otherLan: 'open' }],
    ['nothing', 3, { internet: 'ECONNREFUSED', lan: 'ECONNREFUSED', otherLan: 'ECONNREFUSED' }],
  ])('for a team with %s leads there and nowhere else, least of all to the host', async (_what, index, want) => {
    const agent = agents[index] as Agent;
    const [out, lan, otherLan] = [await agent.connect(INTERNET, 80), await agent.connect(LAN, 80), await agent.connect(OTHER_LAN, 80)];
    expect({ internet: out, lan, otherLan }).toEqual(want);
    const uplink = (await lab.sh('ip -o -4 addr show dev agiso-*; ip -o -4 addr')).stdout.match(/10\.98\.\d+\.\d+/)?.[0] ?? '';
    expect(uplink).not.toBe('');
    for (const host of ['203.0.113.1', uplink, '127.0.0.1']) expect(await agent.connect(host, 22)).toBe('ECONNREFUSED');
  });

  it('is no way in, also not for somebody who knows the route', async () => {
    const uplink = (await lab.sh('ip -o -4 addr')).stdout.match(/(agiso-\w+) +inet (10\.98\.\d+\.)(\d+)/);
    await lab.sh(`ip route add 10.99.0.0/16 via ${uplink?.[2]}${Number(uplink?.[3]) + 1}`);
    expect(await internet.connect('10.99.0.2', 8080)).toBe('silence');
  });

  it('is cut when the team loses it', async () => {
    const agent = agents[0] as Agent;
    const key = await agent.hold(INTERNET, 80);
    await lab.apply('up', { teams: teams.map((each) => ({ ...each, allowInternet: false })), members });
    await vi.waitFor(async () => expect((await agent.poke(key)).end).toBe('ECONNRESET'), { timeout: 5_000 });
    await lab.apply('up', { teams, members });
    expect(await agent.connect(INTERNET, 80)).toBe('open');
  });

  it('goes with the network', async () => {
    await lab.destroy('up');
    await vi.waitFor(async () => expect((await lab.sh('ip -o link')).stdout).not.toContain('agiso-'), { timeout: 5_000 });
  });
});
