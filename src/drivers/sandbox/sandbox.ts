/** From a workspace to the command that starts its sandbox: the same for a real start and for the trial that finds out whether one works. */
import { join } from 'node:path';
import { StalledError } from '#lib/errors.ts';
import type { Resources } from '../driver.ts';
import { bubblewrapCommand, type HostLayout, launchCommand, type NodeProgram, type RootPlan, type SandboxPlan } from './args.ts';
import { ensureFolder, type Folder } from './folder.ts';
import { guestFilesIn } from './guest-files.ts';
import { limitCommand, readHardLimits } from './rlimits.ts';

export interface SandboxAbilities {
  readonly mode: 'root' | 'rootless';
  readonly canOverlay: boolean;
  readonly canDisableUserns: boolean;
  readonly host: HostLayout;
  readonly node: NodeProgram;
  readonly seccomp: Buffer;
}

export interface SandboxStart {
  /** Absent: a member of the warm pool. */
  readonly identity?: { readonly id: string; readonly incarnation: string };
  readonly hostname: string;
  readonly mark: string;
  readonly directory: string;
  readonly guestAgentPath: string;
  readonly resources: Resources;
  readonly uid: number;
  readonly egress: boolean;
  readonly base?: string;
  /** For a member of the pool: its base will come later. */
  readonly isBaseComing?: boolean;
  readonly network?: string;
  /** For a member of the pool: its network will be prepared later, around it. */
  readonly isNetworkComing?: boolean;
  readonly tools?: string;
  /** Files that the launcher joins its control groups by. Empty: single processes are limited instead. */
  readonly groups: readonly string[];
}

/** What the folder is called where bubblewrap looks. */
const BOUND_FOLDER = '/mnt';
const MIB = 1024 * 1024;

export interface PreparedSandbox {
  readonly argv: [string, ...string[]];
  readonly seccompPath: string;
}

export async function prepareSandbox(start: SandboxStart, abilities: SandboxAbilities): Promise<PreparedSandbox> {
  const { directory, uid, network, groups, resources, tools } = start;
  const isRoot = abilities.mode === 'root';
  if (!isRoot && network !== undefined)
    throw new StalledError('NetworkUnavailable', 'only root can put a sandbox into a prepared network', { hint: 'run the daemon as root' });
  const { bound } = abilities.node;
  const { files, guest, seccompPath } = await ensureFolder({
    directory,
    hostname: start.hostname,
    guestAgentPath: start.guestAgentPath,
    seccomp: abilities.seccomp,
    canOverlay: abilities.canOverlay,
    isBaseComing: start.isBaseComing ?? false,
    ...(start.base !== undefined && { base: start.base }),
    ...(isRoot && { uid, ...(bound && { node: bound }), ...(tools !== undefined && { tools }) }),
  });
  const folder = isRoot ? BOUND_FOLDER : directory;
  const command = bubblewrapCommand({
    ...start,
    folder,
    files,
    ...(isRoot ? boundIn(folder, abilities.node, tools) : { node: abilities.node }),
    ...guestFilesIn(folder, guest),
    host: abilities.host,
    tmpBytes: Math.ceil(resources.memoryMiB / 2) * MIB,
    isUnconnected: !isRoot || networkOf(start) === undefined,
    canDisableUserns: abilities.canDisableUserns,
  });
  const limits = groups.length > 0 ? [] : limitCommand(resources, readHardLimits());
  const root = isRoot ? { root: rootPlan(start, { files, node: bound?.source }) } : {};
  return { argv: launchCommand({ command, groups, limits, ...root }), seccompPath };
}

function networkOf({ network, isNetworkComing }: SandboxStart): RootPlan['network'] {
  return isNetworkComing ? 'new' : network;
}

/** What the launcher has bound into the folder, because its own parents are closed. */
function boundIn(folder: string, node: NodeProgram, tools: string | undefined): Pick<SandboxPlan, 'node' | 'tools'> {
  const { bound } = node;
  return {
    node: bound ? { ...node, bound: { ...bound, source: join(folder, 'node') } } : node,
    ...(tools !== undefined && { tools: join(folder, 'tools') }),
  };
}

function rootPlan(start: SandboxStart, { files, node }: { files: Folder['files']; node: string | undefined }): RootPlan {
  const { uid, directory, isBaseComing, tools } = start;
  const network = networkOf(start);
  const ownOverlay = files === 'merged' ? 'now' : 'none';
  return {
    uid,
    folder: directory,
    overlay: isBaseComing ? 'later' : ownOverlay,
    ...(network !== undefined && { network }),
    ...(node !== undefined && { node }),
    ...(tools !== undefined && { tools }),
  };
}
