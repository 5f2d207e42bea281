/** What it takes to start the process of a machine: its folder and its command line. */
import type { WorkspaceSpec } from '../driver.ts';
import { joinFiles } from '../local/cgroup.ts';
import type { StartCommand } from '../local/launcher.ts';
import { uidOf } from '../local/team-uid.ts';
import { TOOL_PATH } from '../sandbox/args.ts';
import { qemuArguments } from './args.ts';
import { ensureFolder } from './folder.ts';
import { launchCommand, type MachineFiles } from './launch.ts';
import { networkOf } from './start-plan.ts';
import type { VmSupport } from './support.ts';
import type { TemplateKind } from './templates.ts';

export type Startable = Pick<WorkspaceSpec, 'id' | 'incarnation' | 'team' | 'resources' | 'base' | 'network'>;

export interface CommandPlan {
  readonly kind: TemplateKind;
  readonly files: Omit<MachineFiles, 'disk'>;
  readonly groups: readonly string[];
  /** Of a member of the pool: the word by which it is found again. */
  readonly waitsAs?: string;
}

export interface CommandPlace {
  readonly directory: string;
  /** The word by which it is found again, if it does not wait. */
  readonly mark: string;
  readonly support: VmSupport;
}

export async function machineCommand(
  workspace: Startable,
  plan: CommandPlan,
  { directory, mark, support }: CommandPlace,
): Promise<StartCommand> {
  const { kind, files, groups, waitsAs } = plan;
  const uid = support.isRoot ? uidOf(workspace.team) : undefined;
  const disk = await ensureFolder(workspace, directory, uid);
  const argv = launchCommand({
    ...{ identity: workspace, mark: waitsAs ?? mark, folder: directory, host: support.host, qemu: support.qemu },
    files: { ...files, disk },
    groups: joinFiles(support.places, groups),
    network: networkOf(workspace, kind),
    hasKvm: kind.accel === 'kvm',
    ...(uid !== undefined && { uid }),
    ...(support.kvmGroup !== undefined && { kvmGroup: support.kvmGroup }),
    arguments: qemuArguments(kind),
    isWaiting: waitsAs !== undefined,
  });
  return { argv, cwd: '/', environment: { PATH: TOOL_PATH }, files: [] };
}
