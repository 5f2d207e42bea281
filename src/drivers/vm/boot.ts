/** One machine that belongs to no workspace: booted to a guest that answers, for a template or to see whether it does. */
import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTree } from '../local/processes.ts';
import { untilGone } from '../local/until-gone.ts';
import { TOOL_PATH } from '../sandbox/args.ts';
import { type MachinePlan, qemuArguments } from './args.ts';
import { BOUND, launchCommand, type MachineFiles } from './launch.ts';
import { Machine } from './machine.ts';
import type { VmSupport } from './support.ts';

export interface BareMachine {
  /** Made for it; the caller's to remove. */
  readonly folder: string;
  readonly image: Omit<MachineFiles, 'disk' | 'tools' | 'memory'>;
  readonly plan: MachinePlan;
  readonly diskGiB: number;
  readonly support: Pick<VmSupport, 'host' | 'qemu' | 'kvmGroup'>;
  /** A word on its command line by which it is found again. */
  readonly mark: string;
  /** It has been started, as this process. */
  readonly onStarted?: (pid: number) => void;
}

/** The number of no team. */
const NOBODYS_UID = 70_000;
/** For the end of processes that are killed. */
const END_MS = 5_000;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Gives the machine, connected on both ports, to `use`; has ended when it resolves or rejects. */
export async function withBareMachine(bare: BareMachine, use: (machine: Machine) => Promise<void>, signal: AbortSignal): Promise<void> {
  const { folder, image, plan, support, mark } = bare;
  const files = await makeFolder(bare);
  const [program, ...args] = launchCommand({
    ...{ identity: { id: 'nobodys', incarnation: 'nobodys' }, mark, folder, host: support.host, qemu: support.qemu },
    files: { ...image, ...files },
    groups: [],
    network: plan.hasNetwork ? 'apart' : 'none',
    uid: NOBODYS_UID,
    hasKvm: plan.accel === 'kvm',
    ...(support.kvmGroup !== undefined && { kvmGroup: support.kvmGroup }),
    arguments: qemuArguments(plan),
    isWaiting: true,
  });
  const child = spawn(program, args, { cwd: '/', env: { PATH: TOOL_PATH }, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  if (child.pid !== undefined) bare.onStarted?.(child.pid);
  // It ends with us, also when we are killed: nobody else would want it.
  child.stdin.on('error', () => {});
  const ended = new AbortController();
  const exited = new Promise<void>((resolve) => child.once('close', resolve).once('error', () => resolve())).then(() => ended.abort());
  const machine = new Machine(join(folder, 'run'));
  try {
    const either = AbortSignal.any([signal, ended.signal]);
    await machine.qmp(either);
    for (const port of ['relay', 'control'] as const) await machine.connect(port, either);
    await use(machine);
  } finally {
    void machine.close();
    // The kernel ends QEMU some time after its launcher.
    const all = child.pid === undefined ? [] : readTree(child.pid);
    child.kill('SIGKILL');
    child.stdin.destroy();
    await exited;
    await untilGone(all, END_MS);
  }
}

async function makeFolder({ folder, plan, diskGiB }: BareMachine): Promise<Pick<MachineFiles, 'disk' | 'tools' | 'memory'>> {
  for (const name of ['run', 'bound']) await mkdir(join(folder, name), { recursive: true, mode: 0o755 });
  for (const name of BOUND) await writeFile(join(folder, 'bound', name), '');
  const [memory, disk, tools] = [join(folder, 'memory'), join(folder, 'disk'), join(folder, 'tools')];
  await makeSparse(disk, diskGiB * GIB);
  if (plan.toolsGiB !== undefined) await makeSparse(tools, plan.toolsGiB * GIB);
  if (plan.memory !== undefined) await makeSparse(memory, plan.memoryMiB * MIB);
  await chown(join(folder, 'run'), NOBODYS_UID, NOBODYS_UID);
  // Its parents are closed to everybody else.
  await chmod(folder, 0o711);
  return { disk, ...(plan.toolsGiB !== undefined && { tools }), ...(plan.memory !== undefined && { memory }) };
}

async function makeSparse(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  await file.truncate(bytes);
  await file.chown(NOBODYS_UID, NOBODYS_UID);
  await file.close();
}
