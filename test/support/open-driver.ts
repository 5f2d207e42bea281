/** The real drivers by the name a test gives them on a command line. */
import type { Driver } from '#drivers/driver.ts';
import { processDriver } from '#drivers/process/driver.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { sandboxDriver } from '#drivers/sandbox/driver.ts';
import { type VmDriver, type VmDriverOptions, vmDriver } from '#drivers/vm/driver.ts';
import { silentLogger } from '#lib/log.ts';
import { findTestImage, type MachinesHere, machinesByVsock, machinesHere, testTemplatesDirectory } from './machines.ts';

export interface OpenDriverOptions {
  readonly stateDir: string;
  readonly guestAgentPath: string;
  readonly stopGraceMs?: number;
}

interface OpenMachinesOptions extends OpenDriverOptions {
  readonly pool?: NonNullable<VmDriverOptions['pool']>;
}

export async function openDriver(kind: string, options: OpenDriverOptions): Promise<Driver> {
  const all = { ...options, log: silentLogger };
  if (kind === 'process') return processDriver({ ...all, environment: (name) => process.env[name] });
  if (kind === 'sandbox') return sandboxDriver({ ...all, support: await detectSandbox(options.stateDir) });
  if (kind === 'vm') return openMachines(options);
  if (kind === 'vm-pool') return openMachines({ ...options, pool: { size: 1, quietMs: 0 } });
  if (kind === 'vm-vsock') return openMachines(options, await machinesByVsock());
  throw new Error(`no driver is called ${kind}: process, sandbox, vm, vm-pool, vm-vsock`);
}

/** Not hurried: what a machine has not written when it is killed is lost. Its templates are those of all homes. */
export async function openMachines({ stateDir, guestAgentPath, pool }: OpenMachinesOptions, here?: MachinesHere): Promise<VmDriver> {
  const { support, reason } = here ?? (await machinesHere());
  if (support === undefined) throw new Error(reason);
  const templates = await testTemplatesDirectory();
  const findImage = () => findTestImage(guestAgentPath);
  return vmDriver({ stateDir, log: silentLogger, support, findImage, templates, ...(pool && { pool }) });
}
