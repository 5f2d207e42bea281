/** The link of a virtual machine, with real packets: a namespace of its own stands for the machine behind its device. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { joinLines, leaveScript, TAP } from '#lib/machine-tap.ts';
import type { Link } from '#network/network.ts';
import { hashOf, team } from '../support/network-teams.ts';
import { type Agent, type Lab, missingForPackets, startLab } from '../support/network-world.ts';
import { requires } from '../support/requirements.ts';

const missing = missingForPackets();
const PORT = 8080;

requires(missing === '', `packets: ${missing}`)('the link of a machine', () => {
  let lab: Lab;
  let link: Link;
  let machine: Agent;
  let other: string;

  const sh = async (command: string): Promise<string> => {
    const { status, stdout, stderr } = await lab.sh(command);
    expect([status, stderr], command).toEqual([0, '']);
    return stdout;
  };
  const inside = (namespace: string, command: string) => sh(`nsenter --net=${namespace} ${command}`);
  const router = (command: string) => inside(`/run/netns/agentiso-${hashOf('main')}`, command);

  beforeAll(async () => {
    lab = await startLab();
    await lab.create('main');
    link = await lab.ensureLink('main', 2);
    const { namespace, address } = await lab.ensureLink('main', 3);
    other = address;
    await lab.apply('main', { teams: [team(1, { allowInterAgent: true })], members: [2, 3].map((agent) => ({ agent, team: 1 })) });
    await (await lab.enter('other', namespace)).listen(PORT);
    await startMachine();
    machine = await lab.enter('machine', '/run/netns/machine');
  });

  afterAll(() => lab?.stop());

  /** As the launcher and the guest of a real one do it. */
  async function startMachine(): Promise<void> {
    await sh('ip netns add machine');
    await inside(link.namespace, `ip link add ${TAP} type veth peer name eth0 address ${link.mac} netns /run/netns/machine`);
    for (const line of joinLines(TAP)) await inside(link.namespace, `tc ${line}`);
    await inside(link.namespace, `ip link set ${TAP} up`);
    for (const line of [
      'link set eth0 up',
      `addr add ${link.address}/32 dev eth0`,
      `route add ${link.gateway} dev eth0 scope link`,
      `neigh replace ${link.gateway} lladdr ${link.gatewayMac} dev eth0 nud permanent`,
      `route add default via ${link.gateway} dev eth0`,
    ])
      await inside('/run/netns/machine', `ip ${line}`);
  }

  it('carries its packets', async () => {
    expect(await machine.connect(other, PORT)).toBe('open');
  });

  it('carries them again when somebody took the link away and it was made anew', async () => {
    await router('ip link del ag2');
    expect(await machine.connect(other, PORT)).not.toBe('open');
    await router("nft 'add table ip nudge'");
    await router("nft 'delete table ip nudge'");
    await vi.waitFor(async () => expect(await lab.drifts('main')).toContainEqual(expect.stringContaining('links of 1 agents were gone')), {
      timeout: 30_000,
    });
    expect(await machine.connect(other, PORT)).toBe('open');
  });

  it('is that of a sandbox when the machine has left it, and not before', async () => {
    const box = await lab.enter('box', link.namespace);
    expect(await box.connect(other, PORT)).not.toBe('open');
    await inside(link.namespace, `sh -c '${leaveScript(TAP)}'`);
    expect(await box.connect(other, PORT)).toBe('open');
    // Where there is nothing to leave.
    await inside(link.namespace, `sh -c '${leaveScript(TAP)}'`);
  });
});
