import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseLaunch } from '../local/launches.ts';
import { LAUNCH_SCRIPT, type LaunchPlan, launchCommand, VSOCK_SCRIPT } from './launch.ts';

const PLAN: LaunchPlan = {
  identity: { id: 'agent', incarnation: 'first' },
  mark: 'agentiso-vm-mark',
  folder: '/home/state/vm/agent',
  files: { kernel: '/images/vmlinux', initrd: '/images/initrd', root: '/images/root', disk: '/home/state/vm/agent/disk.ext4' },
  host: { directories: ['/usr'], links: [['/bin', 'usr/bin']], etc: [] },
  groups: ['/sys/fs/cgroup/agentiso/cgroup.procs'],
  network: { namespace: '/run/netns/agentiso-x-2' },
  uid: 70_001,
  hasKvm: false,
  qemu: 'qemu-system-x86_64',
  arguments: ['-nodefaults'],
};

describe('the launcher of a machine', () => {
  it.each([LAUNCH_SCRIPT, VSOCK_SCRIPT])('is a script that a shell can read', (script) => {
    expect(spawnSync('/bin/sh', ['-n', '-c', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it('is found again by what is on its command line', () => {
    expect(parseLaunch(launchCommand(PLAN), () => PLAN.mark)).toEqual(PLAN.identity);
  });

  it('enters the network, joins the groups, gives up every right and only then starts QEMU', () => {
    const words = launchCommand(PLAN);
    const order = ['nsenter', 'unshare', '/bin/sh', PLAN.groups[0] ?? '', 'setpriv', 'bwrap', 'qemu-system-x86_64'];
    const places = order.map((word) => words.indexOf(word));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(words.slice(words.indexOf('setpriv'), words.indexOf('bwrap'))).toEqual([
      ...['setpriv', '--reuid=70001', '--regid=70001', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--'],
    ]);
  });

  it('shows QEMU the image read-only, its disk, and no device that it does not use', () => {
    const line = launchCommand(PLAN).join(' ');
    expect(line).toContain('--ro-bind /mnt/bound/root /machine/root');
    expect(line).toContain('--bind /mnt/disk.ext4 /machine/disk');
    expect(line).toContain('--dev-bind /mnt/devices/tun /dev/net/tun');
    expect(line).not.toContain('/dev/kvm');
    expect(launchCommand({ ...PLAN, network: 'none' }).join(' ')).not.toContain('/dev/net/tun');
    expect(launchCommand({ ...PLAN, network: 'none' })).toContain('--unshare-net');
  });

  it('starts what has its vsock behind the same walls, before QEMU', () => {
    const plan = { ...PLAN, files: { ...PLAN.files, vsock: '/root/bin/vhost-device-vsock' } };
    const words = launchCommand(plan);
    expect(words.join(' ')).toContain('/root/bin/vhost-device-vsock bound/vsock');
    expect(words.join(' ')).toContain('--ro-bind /mnt/bound/vsock /machine/vsock');
    const places = ['setpriv', 'bwrap', VSOCK_SCRIPT, 'qemu-system-x86_64'].map((word) => words.indexOf(word));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(parseLaunch(words, () => PLAN.mark)).toEqual(PLAN.identity);
    expect(launchCommand(PLAN).join(' ')).not.toContain('vsock');
  });

  it('lets a group use kvm where one may', () => {
    const line = launchCommand({ ...PLAN, hasKvm: true, kvmGroup: 108 }).join(' ');
    expect(line).toContain('--groups=108');
    expect(line).toContain('--dev-bind /dev/kvm /dev/kvm');
  });

  it('has nothing of root where it is not root', () => {
    const { uid: _, ...plan } = PLAN;
    const words = launchCommand({ ...plan, network: 'none' });
    expect(words.slice(0, 2)).toEqual(['/bin/sh', '-c']);
    expect(words).not.toContain('setpriv');
    expect(words.join(' ')).toContain('--ro-bind /images/root /machine/root');
  });
});
