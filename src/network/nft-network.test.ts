import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Lab, missingForPackets, startLab } from '../../test/support/network-world.ts';
import { requires } from '../../test/support/requirements.ts';
import type { Policy } from './network.ts';

const missing = missingForPackets();

requires(missing === '', `packets: ${missing}`)('a network of rules', () => {
  let lab: Lab;
  let router: string;
  const policyOf = (agents: number): Policy => ({
    teams: [{ team: 1, allowInterAgent: true, allowedPorts: [], allowInternet: false, allowCidrs: [] }],
    members: Array.from({ length: agents }, (_, index) => ({ agent: 2 + index, team: 1 })),
  });

  beforeEach(async () => {
    lab = await startLab();
    await lab.create('home');
    router = (await lab.ensureLink('home', 2)).namespace.replace(/-2$/, '');
    // The last ones need no reading back: sessions and monitor are at work.
    for (const agents of [1, 2, 3, 2]) await lab.apply('home', policyOf(agents));
  });

  afterEach(() => lab?.stop());

  const agents = async () => {
    const { stdout } = await lab.sh(`nsenter --net=${router} -- nft list map inet agentiso team_of`);
    return [...stdout.matchAll(/10\.99\.0\.(\d+)/g)].map(([, agent]) => Number(agent)).sort();
  };

  it('is made again in a router that was replaced by another of the same name, also when nothing was to be done', async () => {
    const name = router.replace('/run/netns/', '');
    await lab.sh(`ip netns del ${name}; ip netns add ${name}`);
    await lab.apply('home', policyOf(2));
    expect(await agents()).toEqual([2, 3]);
    await vi.waitFor(async () => expect((await lab.sh(`nsenter --net=${router} -- ip -o link show`)).stdout).toContain('ag2@'));
    await lab.apply('home', policyOf(3));
    expect(await agents()).toEqual([2, 3, 4]);
  });

  it('has no process left when it is closed, nor when its daemon is killed', async () => {
    const children = async () => (await lab.sh('cat /proc/$PPID/task/*/children')).stdout.split(/\s+/).filter(Boolean).map(Number);
    const commands = async () =>
      (await lab.sh('for p in $(cat /proc/$PPID/task/*/children); do tr "\\\\0" " " < /proc/$p/cmdline; echo; done')).stdout;
    expect(await commands()).toMatch(/nft -i \n/);
    expect(await commands()).toMatch(/nft monitor \n/);
    await lab.close('home');
    expect(await commands()).not.toContain('nft');
    await lab.create('again');
    await lab.ensureLink('again', 2);
    await lab.apply('again', policyOf(1));
    const left = await children();
    expect(left.length).toBeGreaterThan(1);
    await lab.kill();
    await vi.waitFor(() => expect(left.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]), { timeout: 5_000 });
  });
});
