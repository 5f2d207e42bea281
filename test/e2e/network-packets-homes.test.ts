/** Networks of several homes on one machine, half made ones, and machines that lack something. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Policy } from '#network/network.ts';
import { hashOf, team } from '../support/network-teams.ts';
import { type Lab, missingForPackets, startLab } from '../support/network-world.ts';
import { requires } from '../support/requirements.ts';

const missing = missingForPackets();

requires(missing === '', `packets: ${missing}`)('several homes', () => {
  let lab: Lab;
  const home = (name: string) => `agentiso-${hashOf(name)}`;
  const policy: Policy = { teams: [team(1)], members: [{ agent: 2, team: 1 }] };

  beforeAll(async () => {
    lab = await startLab();
  });

  afterAll(() => lab?.stop());

  it('whose names begin alike do not touch each other, nor names that only look like theirs', async () => {
    for (const name of ['a', 'a-b']) {
      await lab.create(name);
      await lab.ensureLink(name, 2);
      await lab.apply(name, policy);
    }
    const strangers = [`${home('a')}-x`, `${home('a')}-02`, `${home('a')}0-3`, `${home('a')}-2-3`, 'agentiso'];
    for (const name of strangers) await lab.sh(`ip netns add ${name}`);
    expect(await lab.listLinks('a')).toEqual([2]);
    await lab.destroy('a');
    const left = (await lab.sh('ls /run/netns')).stdout.trim().split('\n');
    expect(left.sort()).toEqual([...strangers, home('a-b'), `${home('a-b')}-2`].sort());
    expect((await lab.sh(`nsenter --net=/run/netns/${home('a-b')} nft list map inet agentiso team_of`)).stdout).toContain('10.99.0.2');
    await lab.destroy('a-b');
  });

  it('make nothing before the first link, and an empty router goes when the daemon does', async () => {
    await lab.create('empty');
    await lab.apply('empty', { teams: [team(1)], members: [] });
    expect((await lab.sh('ls /run/netns')).stdout).not.toContain(home('empty'));
    await lab.ensureLink('empty', 2);
    await lab.removeLink('empty', 2);
    expect((await lab.sh('ls /run/netns')).stdout).toContain(home('empty'));
    await lab.close('empty');
    expect((await lab.sh('ls /run/netns')).stdout).not.toContain(home('empty'));
  });

  it('finish a link that was left half made', async () => {
    await lab.create('half');
    await lab.ensureLink('half', 2);
    await lab.sh(`touch /run/netns/${home('half')}-3`);
    await lab.sh(`ip netns add ${home('half')}-4; nsenter --net=/run/netns/${home('half')} ip link add ag4 type veth peer name other`);
    await lab.sh(`nsenter --net=/run/netns/${home('half')} ip link add ag5 type veth peer name loose`);
    for (const agent of [3, 4, 5]) {
      await lab.ensureLink('half', agent);
      const { stdout } = await lab.sh(`nsenter --net=/run/netns/${home('half')}-${agent} ip -o -4 addr show dev eth0`);
      expect(stdout).toContain(`10.99.0.${agent}/32`);
    }
    await lab.destroy('half');
  });

  it('make a link around a process that waits for it, never around a stranger with its pid, and leave a namespace that is there', async () => {
    await lab.create('around');
    const start = async () => Number((await lab.sh('unshare --net sleep 60 > /dev/null 2>&1 & echo $!')).stdout);
    const idOf = async (path: string) => (await lab.sh(`stat -L -c %i ${path}`)).stdout;
    const linksIn = async (path: string) => (await lab.sh(`nsenter --net=${path} cat /proc/net/dev`)).stdout;
    const own = `/proc/${(await lab.sh('echo $PPID')).stdout.trim()}/ns/net`;
    const [first, second] = [await start(), await start()];
    for (const pid of [first, second])
      await vi.waitFor(async () => expect(await idOf(`/proc/${pid}/ns/net`)).not.toBe(await idOf(own)), { timeout: 5_000 });

    const identity = await lab.identityOf(first);
    const { namespace } = await lab.ensureLinkAround('around', 2, identity);
    expect(await idOf(namespace)).toBe(await idOf(`/proc/${first}/ns/net`));
    expect(await linksIn(`/proc/${first}/ns/net`)).toContain('eth0:');
    expect((await lab.ensureLinkAround('around', 2, await lab.identityOf(second))).namespace).toBe(namespace);
    expect(await idOf(namespace)).toBe(await idOf(`/proc/${first}/ns/net`));

    const stranger = { ...(await lab.identityOf(second)), startTime: 1 };
    const other = await lab.ensureLinkAround('around', 3, stranger);
    expect(await idOf(other.namespace)).not.toBe(await idOf(`/proc/${second}/ns/net`));
    expect([await linksIn(`/proc/${second}/ns/net`), await linksIn(own)].join()).not.toContain('eth0:');
    expect(await linksIn(other.namespace)).toContain('eth0:');

    await lab.sh(`kill -9 ${first} ${second}`);
    await vi.waitFor(async () => expect((await lab.sh(`ls -d /proc/${first}`)).status).not.toBe(0), { timeout: 5_000 });
    expect((await lab.ensureLinkAround('around', 4, identity)).address).toBe('10.99.0.4');
    await lab.destroy('around');
    expect((await lab.sh('ls /run/netns')).stdout).not.toContain(home('around'));
  });

  it('keep the old rules when nft refuses the new ones, and say why', async () => {
    const nft =
      '#!/bin/sh\\n[ "$1" != -i ] || exit 1\\n[ ! -e /run/refuse ] || case "$*" in *-f*) echo "Error: out of sets" >&2; exit 1;; esac\\nexec /usr/sbin/nft "$@"\\n';
    await lab.sh(`mkdir /run/tools; printf '${nft}' > /run/tools/nft; chmod +x /run/tools/nft`);
    await lab.create('refused', { toolDirectories: ['/run/tools', '/usr/sbin', '/sbin', '/usr/bin', '/bin'] });
    await lab.ensureLink('refused', 2);
    await lab.apply('refused', policy);
    await lab.sh('touch /run/refuse');
    await expect(lab.apply('refused', { ...policy, members: [] })).rejects.toMatchObject({
      reason: 'RulesRejected',
      message: 'nft refused the rules: Error: out of sets',
    });
    const rules = () => lab.sh(`nsenter --net=/run/netns/${home('refused')} nft list map inet agentiso team_of`);
    expect((await rules()).stdout).toContain('10.99.0.2');
    await lab.sh('rm /run/refuse');
    await lab.apply('refused', { ...policy, members: [] });
    expect((await rules()).stdout).not.toContain('10.99.0.2');
    await lab.destroy('refused');
  });

  it('leave no monitor behind when their daemon is killed', async () => {
    const doomed = await startLab();
    await doomed.create('killed');
    await doomed.ensureLink('killed', 2);
    const pid = await doomed.monitorPid();
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('monitor');
    await doomed.kill();
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), { timeout: 5_000 });
  });

  it('have the proxy only where the tools are missing', async () => {
    const { mode, reason } = await lab.create('bare', { toolDirectories: ['/run/no-tools'] });
    expect(mode).toBe('proxy-only');
    expect(reason).toContain('not installed: ip, nft');
    await expect(lab.ensureLink('bare', 2)).rejects.toMatchObject({ reason: 'NetworkUnavailable' });
    expect(await lab.listLinks('bare')).toEqual([]);
  });
});
