/** How machines are reached: what the daemon was told, and whether there is what it takes. */
import { statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

export const TRANSPORTS = ['virtio-serial', 'vsock'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** The half of a guest's vsock device that is a program of this machine, and has a unix socket where guests expect the vsock of their host. */
export const VSOCK_DAEMON = 'vhost-device-vsock';

export interface TransportProblem {
  /** What is missing, for people. */
  readonly problem: string;
  readonly hint: string;
}

export interface VsockDaemon {
  /** Its path. */
  readonly program: string;
}

export type ChosenTransport = { readonly name: 'virtio-serial' } | ({ readonly name: 'vsock' } & VsockDaemon) | TransportProblem;

type Variable = (name: string) => string | undefined;

/** Nobody gets another way than the one that was asked for: who asks for vsock may have a reason. */
export function chooseTransport(variable: Variable): ChosenTransport {
  const asked = variable('AGENTISO_VM_TRANSPORT') || 'virtio-serial';
  if (asked === 'virtio-serial') return { name: asked };
  if (asked !== 'vsock')
    return { problem: `AGENTISO_VM_TRANSPORT is ${asked}`, hint: `there are ${TRANSPORTS.join(' and ')}; set one and restart the daemon` };
  const found = findVsock(variable);
  return 'program' in found ? { name: 'vsock', ...found } : found;
}

/** $AGENTISO_VHOST_VSOCK, or the first of its name in the path. */
export function findVsock(variable: Variable, isRoot = process.getuid?.() === 0): VsockDaemon | TransportProblem {
  const named = variable('AGENTISO_VHOST_VSOCK') || undefined;
  const folders = (variable('PATH') ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = named === undefined ? folders.map((folder) => join(folder, VSOCK_DAEMON)) : [resolve(named)];
  const program = candidates.find((path) => isProgram(path, 0o111));
  const hint = `cargo install ${VSOCK_DAEMON}, and put it in the daemon's PATH or its path into AGENTISO_VHOST_VSOCK`;
  if (program === undefined) return { problem: `there is no ${named ?? VSOCK_DAEMON}, which vsock needs`, hint };
  // It runs with the rights of a team, as QEMU does.
  if (isRoot && !isProgram(program, 0o001))
    return { problem: `${program} may not be run by others than its owner`, hint: `chmod 755 ${program}` };
  return { program };
}

function isProgram(path: string, bits: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & bits) !== 0;
}
