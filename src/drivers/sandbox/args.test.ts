import { describe, expect, it } from 'vitest';
import { bubblewrapCommand, launchCommand, type SandboxPlan } from './args.ts';
import { LAUNCH_SCRIPT } from './launch-script.ts';

const PLAN: SandboxPlan = {
  identity: { id: 'uid-1', incarnation: 'incarnation-1' },
  hostname: 'agent-1',
  folder: '/mnt',
  files: 'merged',
  mark: 'agentiso-mark',
  guestAgent: '/mnt/guest-agent.cjs',
  guestPack: '/mnt/guest-agent.pack',
  teamCommand: '/mnt/team',
  node: { path: '/usr/bin/node' },
  host: { directories: ['/usr'], links: [['/bin', 'usr/bin']], etc: ['/etc/ssl'] },
  egress: false,
  tmpBytes: 1024,
  isUnconnected: true,
  canDisableUserns: true,
};

/** One option per line, as a person would write it. */
function lines(argv: readonly string[]): string[] {
  return argv.join(' ').replaceAll(' --', '\n--').split('\n');
}

describe('bubblewrapCommand', () => {
  it('says all of it', () => {
    expect(lines(bubblewrapCommand(PLAN))).toEqual([
      'bwrap',
      '--unshare-user',
      '--uid 1000',
      '--gid 1000',
      '--disable-userns',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
      '--unshare-net',
      '--hostname agent-1',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      '--setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      '--setenv HOME /home/agent',
      '--setenv USER agent',
      '--setenv LOGNAME agent',
      '--setenv SHELL /bin/sh',
      '--setenv LANG C.UTF-8',
      '--setenv TERM dumb',
      '--setenv AGENTISO_MARK agentiso-mark',
      '--ro-bind /usr /usr',
      '--symlink usr/bin /bin',
      '--dir /etc',
      '--ro-bind-try /etc/ssl /etc/ssl',
      '--proc /proc',
      '--dev /dev',
      '--perms 1777',
      '--size 1024',
      '--tmpfs /tmp',
      '--perms 1777',
      '--size 1024',
      '--tmpfs /dev/shm',
      '--tmpfs /run',
      '--dir /var',
      '--symlink /tmp /var/tmp',
      '--ro-bind /mnt/etc/passwd /etc/passwd',
      '--ro-bind /mnt/etc/group /etc/group',
      '--ro-bind /mnt/etc/hosts /etc/hosts',
      '--ro-bind /mnt/etc/hostname /etc/hostname',
      '--ro-bind /mnt/etc/resolv.conf /etc/resolv.conf',
      '--bind /mnt/run /run/agentiso',
      '--bind /mnt/state /var/lib/agentiso',
      '--bind /mnt/home /home/agent',
      '--bind /mnt/merged /workspace',
      '--ro-bind /mnt/guest-agent.cjs /run/agent.cjs',
      '--ro-bind /mnt/guest-agent.pack /run/agent.pack',
      '--ro-bind /mnt/team /run/bin/team',
      '--remount-ro /',
      '--remount-ro /run',
      '--remount-ro /dev',
      '--chdir /workspace',
      '--cap-drop ALL',
      '--seccomp 3',
      '-- /usr/bin/node /run/agent.cjs',
      '--id uid-1',
      '--incarnation incarnation-1',
      '--run /run/agentiso',
      '--state /var/lib/agentiso',
      '--workspace /workspace',
      '--home /home/agent',
    ]);
  });

  it('gives no name to a member of the pool', () => {
    const { identity: _, ...nameless } = PLAN;
    const command = bubblewrapCommand(nameless);
    expect(command).toContain('--pool');
    expect(command).not.toContain('--id');
  });

  it('leaves the network alone when the launcher has entered one', () => {
    expect(bubblewrapCommand({ ...PLAN, isUnconnected: false })).not.toContain('--unshare-net');
  });

  it('names the proxy where there is one', () => {
    const command = bubblewrapCommand({ ...PLAN, egress: true });
    expect(command.at(-1)).toBe('--egress');
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'])
      expect(command.join(' ')).toContain(`--setenv ${name} http://127.0.0.1:3128`);
    expect(command.join(' ')).toContain('--setenv NO_PROXY localhost,127.0.0.1');
  });

  it('brings a Node from elsewhere along, with its npm', () => {
    const node = { bound: { source: '/mnt/node', target: '/opt/node' }, path: '/opt/node/bin/node' };
    const command = bubblewrapCommand({ ...PLAN, node }).join(' ');
    expect(command).toContain('--ro-bind /mnt/node /opt/node --remount-ro /');
    expect(command).toContain('--setenv PATH /opt/node/bin:/usr/local/sbin');
    expect(command).toContain('-- /opt/node/bin/node /run/agent.cjs');
  });
});

it('binds the tools where there are some, and says where', () => {
  const argv = bubblewrapCommand({ ...PLAN, tools: '/mnt/tools' }).join(' ');
  expect(argv).toContain('--ro-bind /mnt/tools /opt/agentiso/tools');
  expect(argv).toContain('--setenv AGENTISO_TOOLS /opt/agentiso/tools');
});

describe('launchCommand', () => {
  const command = ['bwrap', 'args'];

  it('as root enters the network, makes its own mounts, and gives every right up', () => {
    const root = {
      uid: 70_001,
      network: '/run/netns/a1',
      folder: '/home/state/uid-1',
      overlay: 'now' as const,
      node: '/opt/node-20',
      tools: '/t',
    };
    expect(launchCommand({ command, groups: ['/cg/memory/cgroup.procs', '/cg/pids/cgroup.procs'], limits: [], root })).toEqual([
      ...['nsenter', '--net=/run/netns/a1', '--', 'unshare', '--mount', '--propagation', 'slave', '--'],
      ...['/bin/sh', '-c', LAUNCH_SCRIPT, 'agentiso-sandbox', '/home/state/uid-1', 'now', '/opt/node-20', '/t'],
      ...['/cg/memory/cgroup.procs', '/cg/pids/cgroup.procs', '--'],
      ...['setpriv', '--reuid=70001', '--regid=70001', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--', 'bwrap', 'args'],
    ]);
  });

  it('makes the network of one whose link comes later with its mounts, as root: nobody inside has a right to it', () => {
    const root = { uid: 70_001, network: 'new', folder: '/home/state/.pool-1', overlay: 'none' as const };
    expect(launchCommand({ command, groups: [], limits: [], root }).slice(0, 6)).toEqual([
      ...['unshare', '--mount', '--net', '--propagation', 'slave', '--'],
    ]);
  });

  it('as anybody else has nothing to give up', () => {
    expect(launchCommand({ command, groups: [], limits: ['prlimit', '--core=0', '--'] })).toEqual([
      ...['/bin/sh', '-c', LAUNCH_SCRIPT, 'agentiso-sandbox', '', 'none', '', '', '--', 'prlimit', '--core=0', '--', 'bwrap', 'args'],
    ]);
  });
});
