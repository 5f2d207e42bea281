/** What a start of a machine will be: which kind it is of, and what its folder has to remember of that. Pure. */
import type { WorkspaceSpec } from '../driver.ts';
import type { LaunchPlan } from './launch.ts';
import type { MachineFile } from './machine-file.ts';
import type { TemplateFiles } from './template-copies.ts';
import type { TemplateKind } from './templates.ts';
import type { ToolDisk } from './tool-disks.ts';
import type { VsockDaemon } from './vsock.ts';

export interface Start {
  readonly kind: TemplateKind;
  readonly template?: TemplateFiles;
  readonly tools?: ToolDisk;
  /** Where it is reached by that. */
  readonly vsock?: VsockDaemon;
}

export function toMachineFile(workspace: WorkspaceSpec, { kind, template, tools }: Start): MachineFile {
  const { id, incarnation, hostname, egress, team } = workspace;
  return {
    ...{ id, incarnation, hostname, egress, board: kind.board, accel: kind.accel },
    ...placeOf(workspace, kind),
    ...(tools && { hasTools: true }),
    ...(template && { state: template.state }),
    started: { kind, team, ...(tools && { tools: tools.path }) },
  };
}

/** On the network, as far as it has any. */
export function placeOf(
  { network, link }: Pick<WorkspaceSpec, 'network' | 'link'>,
  { hasNetwork }: TemplateKind,
): Pick<MachineFile, 'network' | 'link'> {
  return network === undefined || !hasNetwork ? {} : { network, ...(link && { link }) };
}

export function networkOf({ network }: Pick<WorkspaceSpec, 'network'>, { hasNetwork }: TemplateKind): LaunchPlan['network'] {
  if (!hasNetwork) return 'none';
  return network === undefined ? 'apart' : { namespace: network };
}
