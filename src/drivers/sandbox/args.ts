/** The command lines of a sandbox: what bubblewrap is told, and the launcher that makes ready for it. Pure. */
import { dirname } from 'node:path';
import { launchArguments } from '../local/launches.ts';
import { LAUNCH_SCRIPT } from './launch-script.ts';

/** The parts of this machine's file system that every sandbox sees, read-only. */
export interface HostLayout {
  /** /usr, and /bin and the like where they are not links into it. */
  readonly directories: readonly string[];
  /** [link, where it points], as /bin to usr/bin. */
  readonly links: readonly (readonly [string, string])[];
  /** Files and directories of /etc that programs need and that hold nothing secret. */
  readonly etc: readonly string[];
}

export interface NodeProgram {
  /** What has to be bound for it; undefined when it is in /usr already. */
  readonly bound?: { readonly source: string; readonly target: string };
  /** Where it is inside. */
  readonly path: string;
}

export interface SandboxPlan {
  /** Absent: a member of the warm pool, which is told later. */
  readonly identity?: { readonly id: string; readonly incarnation: string };
  readonly hostname: string;
  /** Where bubblewrap finds the parts of the workspace's folder. */
  readonly folder: string;
  /** The name below `folder` of what becomes /workspace. */
  readonly files: string;
  /** Found again by it: no other sandbox of this machine has the same. */
  readonly mark: string;
  readonly guestAgent: string;
  /** What the guest agent takes its program from, where it does. */
  readonly guestPack?: string;
  /** The command `team`, where there is one. */
  readonly teamCommand?: string;
  /** What the guest agent starts for each prompt, where there is one. */
  readonly promptRunner?: string;
  readonly node: NodeProgram;
  /** A directory of programs, where there is one. */
  readonly tools?: string;
  readonly host: HostLayout;
  readonly egress: boolean;
  /** Bounds /tmp and /dev/shm each. */
  readonly tmpBytes: number;
  /** True: a network of its own with nothing in it. False: the one the launcher is in. */
  readonly isUnconnected: boolean;
  /** False for a bubblewrap that cannot; then the filter alone keeps new user namespaces away. */
  readonly canDisableUserns: boolean;
}

/** Where tools are, on this machine and inside. */
export const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const USER = '1000';
const HOME = '/home/agent';
const GUEST = '/run/agent.cjs';
const GUEST_PACK = '/run/agent.pack';
/** The guest agent looks beside itself. */
const TEAM_COMMAND = '/run/bin/team';
const PROMPT_RUNNER = '/run/prompt-runner.cjs';
/** Where workspaces that see files of their own see the tool directory. */
export const TOOLS = '/opt/agentiso/tools';
const PROXY = 'http://127.0.0.1:3128';
const SECCOMP_DESCRIPTOR = '3';
/** What of the folder's etc/ is bound into /etc. */
export const OWN_ETC = ['passwd', 'group', 'hosts', 'hostname', 'resolv.conf'];

export function bubblewrapCommand(plan: SandboxPlan): string[] {
  const who = plan.identity === undefined ? ['--pool'] : launchArguments(plan.identity);
  const guest = [...who, '--run', '/run/agentiso', '--state', '/var/lib/agentiso', '--workspace', '/workspace', '--home', HOME];
  return [
    'bwrap',
    ...namespaces(plan),
    ...environment(plan),
    ...machine(plan.host),
    ...scratch(plan.tmpBytes),
    ...ownFiles(plan),
    // Everything that makes a mount point comes before.
    ...['--remount-ro', '/', '--remount-ro', '/run', '--remount-ro', '/dev', '--chdir', '/workspace'],
    ...['--cap-drop', 'ALL', '--seccomp', SECCOMP_DESCRIPTOR, '--'],
    ...[plan.node.path, GUEST, ...guest, ...(plan.egress ? ['--egress'] : [])],
  ];
}

function namespaces({ hostname, isUnconnected, canDisableUserns }: SandboxPlan): string[] {
  return [
    ...['--unshare-user', '--uid', USER, '--gid', USER, ...(canDisableUserns ? ['--disable-userns'] : [])],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', ...(isUnconnected ? ['--unshare-net'] : [])],
    // With the launcher, which is the process that stands for the workspace; not with the daemon.
    ...['--hostname', hostname, '--die-with-parent', '--new-session'],
  ];
}

function environment({ egress, mark, node, tools }: SandboxPlan): string[] {
  const proxy = { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, https_proxy: PROXY };
  const variables = {
    PATH: `${node.bound === undefined ? '' : `${dirname(node.path)}:`}${TOOL_PATH}`,
    HOME,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    AGENTISO_MARK: mark,
    ...(tools !== undefined && { AGENTISO_TOOLS: TOOLS }),
    ...(egress && { ...proxy, NO_PROXY: 'localhost,127.0.0.1', no_proxy: 'localhost,127.0.0.1' }),
  };
  return ['--clearenv', ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])];
}

function machine({ directories, links, etc }: HostLayout): string[] {
  return [
    ...directories.flatMap((path) => ['--ro-bind', path, path]),
    ...links.flatMap(([link, target]) => ['--symlink', target, link]),
    ...['--dir', '/etc', ...etc.flatMap((path) => ['--ro-bind-try', path, path])],
    ...['--proc', '/proc', '--dev', '/dev'],
  ];
}

function scratch(tmpBytes: number): string[] {
  const bounded = (path: string) => ['--perms', '1777', '--size', String(tmpBytes), '--tmpfs', path];
  return [...bounded('/tmp'), ...bounded('/dev/shm'), '--tmpfs', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'];
}

function ownFiles({ folder, files, guestAgent, guestPack, teamCommand, promptRunner, node, tools }: SandboxPlan): string[] {
  return [
    ...OWN_ETC.flatMap((name) => ['--ro-bind', `${folder}/etc/${name}`, `/etc/${name}`]),
    ...['--bind', `${folder}/run`, '/run/agentiso', '--bind', `${folder}/state`, '/var/lib/agentiso'],
    ...['--bind', `${folder}/home`, HOME, '--bind', `${folder}/${files}`, '/workspace', '--ro-bind', guestAgent, GUEST],
    ...(guestPack === undefined ? [] : ['--ro-bind', guestPack, GUEST_PACK]),
    ...(teamCommand === undefined ? [] : ['--ro-bind', teamCommand, TEAM_COMMAND]),
    ...(promptRunner === undefined ? [] : ['--ro-bind', promptRunner, PROMPT_RUNNER]),
    ...(node.bound === undefined ? [] : ['--ro-bind', node.bound.source, node.bound.target]),
    ...(tools === undefined ? [] : ['--ro-bind', tools, TOOLS]),
  ];
}

export interface LaunchPlan {
  readonly command: readonly string[];
  /** Files that the launcher joins its control groups by: see joinFiles. */
  readonly groups: readonly string[];
  /** Soft walls where there are no control groups. */
  readonly limits: readonly string[];
  /** Absent: the launcher has no rights to give up. */
  readonly root?: RootPlan;
}

export interface RootPlan {
  readonly uid: number;
  /** Path of the network namespace to enter; new: one that is made now, with nothing in it. Absent: that is left to bubblewrap. */
  readonly network?: string | 'new';
  readonly folder: string;
  /** later: by somebody who comes from outside, and what is mounted then appears in the sandbox as well. */
  readonly overlay: 'none' | 'now' | 'later';
  /** Bound to `node` of the folder. */
  readonly node?: string;
  /** Bound to `tools` of the folder. */
  readonly tools?: string;
}

/** The process this starts stays, as parent of bubblewrap, and is the workspace to everybody else. */
export function launchCommand({ command, groups, limits, root }: LaunchPlan): [string, ...string[]] {
  const isNew = root?.network === 'new';
  const enter = root?.network === undefined || isNew ? [] : ['nsenter', `--net=${root.network}`, '--'];
  const separate = root === undefined ? [] : ['unshare', '--mount', ...(isNew ? ['--net'] : []), '--propagation', 'slave', '--'];
  const settings = [root?.folder ?? '', root?.overlay ?? 'none', root?.node ?? '', root?.tools ?? ''];
  const shell = ['/bin/sh', '-c', LAUNCH_SCRIPT, 'agentiso-sandbox', ...settings, ...groups, '--'];
  const [first = '/bin/sh', ...rest] = [...enter, ...separate, ...shell, ...dropRights(root?.uid), ...limits, ...command];
  return [first, ...rest];
}

function dropRights(uid: number | undefined): string[] {
  if (uid === undefined) return [];
  return ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--'];
}
