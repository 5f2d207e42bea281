/**
 * How a machine is started: QEMU without any right, behind namespaces of its own, with nothing of this machine in sight but its programs, the
 * image and the files of the workspace. Pure.
 */
import { joinLines, leaveScript, TAP } from '#lib/machine-tap.ts';
import { launchArguments } from '../local/launches.ts';
import { type HostLayout, TOOL_PATH } from '../sandbox/args.ts';
import { INSIDE, SOCKETS } from './args.ts';

export interface MachineFiles {
  readonly kernel: string;
  readonly initrd: string;
  readonly root: string;
  /** Written to. */
  readonly disk: string;
  /** Disk of the tools. */
  readonly tools?: string;
  /** Of a template or of a copy of one; written to. */
  readonly memory?: string;
  /** The program that has its vsock, where it is reached by that. */
  readonly vsock?: string;
}

export interface LaunchPlan {
  readonly identity: { readonly id: string; readonly incarnation: string };
  readonly mark: string;
  /** The workspace's folder; holds `run`. */
  readonly folder: string;
  readonly files: MachineFiles;
  readonly host: HostLayout;
  /** Files that the launcher joins its control groups by: see joinFiles. */
  readonly groups: readonly string[];
  /** Whether there is a device on the network, and where. */
  readonly network: 'none' | 'apart' | { readonly namespace: string };
  /** Who QEMU is to this machine. Absent: whoever we are, without the right to make networks and mounts. */
  readonly uid?: number;
  /** It waits for its agent, and ends with whoever started it until it is given away. */
  readonly isWaiting?: boolean;
  /** A group that may use /dev/kvm. */
  readonly kvmGroup?: number;
  readonly hasKvm: boolean;
  readonly qemu: string;
  readonly arguments: readonly string[];
}

/**
 * The launcher stays as parent of QEMU: whoever ends it, even by SIGKILL, ends the machine. What the machine says on its console goes through a
 * process that keeps the last of it and writes that when the machine has ended: a guest can say as much as it likes.
 *
 * The machine's device is joined to the link of its network namespace by redirecting all that comes in at one to the other: nothing is bridged
 * or routed here, and without the redirection nothing passes at all. The node by which QEMU opens the device is its own, because not every
 * machine lets everybody open the usual one; it is good for a tap that was given to its uid, and for no other.
 *
 * A machine that waits for its agent stands still, so it cannot end by itself when nobody comes: it ends with whoever has the other end of the launcher's
 * standard input, until that says that it is to live.
 */
export const LAUNCH_SCRIPT = `
folder=$1 tap=$2 uid=$3 waits=$4
shift 8
while [ "$1" != -- ]; do
  echo 0 > "$1" || exit 125
  shift
done
shift
ulimit -c 0
cd "$folder" || exit 125
if [ -n "$waits" ]; then
  exec 9<&0 < /dev/null
  {
    read -r word <&9
    [ "$word" = live ] || { grep -qs -- "$0" "/proc/$$/cmdline" && kill -KILL $$; }
  } &
  watch=$!
  exec 9<&-
fi
if [ -n "$tap" ]; then
  ip link del "$tap" 2> /dev/null
  ip tuntap add dev "$tap" mode tap user "$uid" || exit 125
  if ip link show eth0 > /dev/null 2>&1; then
    tc qdisc del dev eth0 ingress 2> /dev/null
    ${joinLines('"$tap"')
      .map((line) => `tc ${line} || exit 125`)
      .join('\n    ')}
  fi
  ip link set "$tap" addrgenmode none 2> /dev/null
  ip link set "$tap" up || exit 125
  mkdir -p devices && mount -t tmpfs -o mode=755,nosuid,size=64k devices devices || exit 125
  mknod -m 600 devices/tun c 10 200 && chown "$uid" devices/tun || exit 125
fi
if [ -n "$uid" ]; then
  while [ "$1" != -- ]; do
    mount --bind "$1" "$2" || exit 125
    shift 2
  done
  mount --rbind . /mnt || exit 125
else
  while [ "$1" != -- ]; do shift 2; done
fi
shift
rm -f console.pipe
mkfifo -m 600 console.pipe || exit 125
tail -c 65536 < console.pipe > console.log &
"$@" > console.pipe
code=$?
[ -z "$waits" ] || kill "$watch" 2> /dev/null
wait
# Whoever lives here next may be no machine.
if [ -n "$tap" ]; then
  ${leaveScript('"$tap"')}
fi
exit $code
`;

/** Of its guest: each machine has a program of its own for its vsock, so all may have the same number. */
const GUEST_CID = 3;

/**
 * Where the machine is reached by vsock: behind the same walls as QEMU, and ended with it by the kernel, because both are in one namespace of processes. Without it
 * nobody reaches the machine, so it ends QEMU when it ends; and when one of its threads has, of which it says no more than a line. What it says is said on the
 * console, which is kept to its last lines. QEMU connects to it once, at its start: so it has to listen by then (00010000 is the kernel's word for it).
 */
export const VSOCK_SCRIPT = `
{
  ${INSIDE.vsock} --vm guest-cid=${GUEST_CID},socket=${SOCKETS.vsockDevice},uds-path=${SOCKETS.vsock} 2>&1 | sed -u '/panicked/q'
  echo 'agentiso: what has the vsock of this machine has ended'
  kill -KILL $$
} < /dev/null &
until grep -q ' 00010000 .* ${SOCKETS.vsockDevice}$' /proc/net/unix; do sleep 0.02; done
exec "$@"
`;

/** What is bound into the folder by root, because QEMU's uid cannot come to where these are. */
export const BOUND = ['kernel', 'initrd', 'root', 'tools', 'memory', 'vsock'] as const;

export function launchCommand(plan: LaunchPlan): [string, ...string[]] {
  const { uid, network, groups, folder, mark } = plan;
  const isRoot = uid !== undefined;
  const enter = typeof network === 'object' ? ['nsenter', `--net=${network.namespace}`, '--'] : [];
  const apart = [...(network === 'apart' ? ['--net'] : []), '--mount', '--propagation', 'slave', '--'];
  const separate = isRoot ? ['unshare', ...apart] : [];
  const settings = [folder, isRoot && network !== 'none' ? TAP : '', uid === undefined ? '' : String(uid), plan.isWaiting ? 'waits' : ''];
  const bound = isRoot ? BOUND.flatMap((name) => (plan.files[name] === undefined ? [] : [plan.files[name], `bound/${name}`])) : [];
  const shell = ['/bin/sh', '-c', LAUNCH_SCRIPT, mark, ...settings, ...launchArguments(plan.identity), ...groups, '--', ...bound, '--'];
  const [first = '/bin/sh', ...rest] = [...enter, ...separate, ...shell, ...dropRights(plan), ...confinedCommand(plan)];
  return [first, ...rest];
}

function dropRights({ uid, kvmGroup }: LaunchPlan): string[] {
  if (uid === undefined) return [];
  const groups = kvmGroup === undefined ? '--clear-groups' : `--groups=${kvmGroup}`;
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, groups, '--inh-caps=-all', '--bounding-set=-all', '--'];
}

function confinedCommand(plan: LaunchPlan): string[] {
  const { host, network, uid, files } = plan;
  const from = (name: (typeof BOUND)[number]) => (uid === undefined ? (files[name] ?? '') : `/mnt/bound/${name}`);
  const folder = uid === undefined ? plan.folder : '/mnt';
  const disk = uid === undefined ? files.disk : `/mnt/${files.disk.slice(plan.folder.length + 1)}`;
  return [
    ...['bwrap', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(network === 'none' ? ['--unshare-net'] : []),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--clearenv', '--setenv', 'PATH', TOOL_PATH],
    ...host.directories.flatMap((path) => ['--ro-bind', path, path]),
    ...host.links.flatMap(([link, target]) => ['--symlink', target, link]),
    ...['--dir', '/etc', '--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...(plan.hasKvm ? ['--dev-bind', '/dev/kvm', '/dev/kvm'] : []),
    ...(network === 'none' ? [] : ['--dev-bind', '/mnt/devices/tun', '/dev/net/tun']),
    ...['--bind', `${folder}/run`, INSIDE.run, '--bind', disk, INSIDE.disk],
    ...['--ro-bind', from('kernel'), INSIDE.kernel, '--ro-bind', from('initrd'), INSIDE.initrd, '--ro-bind', from('root'), INSIDE.root],
    ...(files.tools === undefined ? [] : ['--ro-bind', from('tools'), INSIDE.tools]),
    ...(files.memory === undefined ? [] : ['--bind', from('memory'), INSIDE.memory]),
    ...(files.vsock === undefined ? [] : ['--ro-bind', from('vsock'), INSIDE.vsock]),
    ...['--remount-ro', '/', '--chdir', INSIDE.run, '--'],
    ...(files.vsock === undefined ? [] : ['/bin/sh', '-c', VSOCK_SCRIPT, 'sh']),
    ...[plan.qemu, ...plan.arguments],
  ];
}
