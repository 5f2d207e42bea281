/** The vm driver with the real guest agent and image, as the daemon has it: machines are started until their guest is greeted, and removed. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { type MachineImage, type VmDriver, vmDriver } from '#drivers/vm/driver.ts';
import type { VmSupport } from '#drivers/vm/support.ts';
import { connectGuest } from '#guest/client.ts';
import { newUid } from '#lib/clock.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest } from '../../support/guest-bundle.ts';
import { findTestImage, machinesHere } from '../../support/machines.ts';
import { type BenchContext, BenchError, MissingToolError } from '../harness/operation.ts';

const LOOK_MS = 10;
const { signal } = new AbortController();

export interface Machines {
  readonly support: VmSupport;
  readonly image: MachineImage;
  /** Resolves when the guest has answered hello; gives the pid that stands for the machine. */
  start(spec: WorkspaceSpec): Promise<number>;
  remove(ids: readonly string[]): Promise<void>;
  /** Of the template that the machine is a copy of. */
  templateOf(id: string): Promise<{ readonly memory: string; readonly state: string }>;
  /** Settles when none is being started ahead. */
  poolSettled(): Promise<void>;
}

/** `template`: it is there when it resolves. `pool`: and a machine that waits, from each start to the next. */
export async function openMachines({ dir, own }: BenchContext, name: string, from: 'image' | 'template' | 'pool'): Promise<Machines> {
  const { support, reason } = await machinesHere();
  if (support === undefined) throw new MissingToolError(`virtual machines are needed: ${reason}`);
  const bundle = await bundleGuest();
  own({ close: () => bundle.remove() });
  const image = await findTestImage(bundle.path);
  if (image === undefined) throw new MissingToolError('no image; run: agentiso image build base');
  const stateDir = join(dir, name);
  const hasTemplates = from !== 'image';
  mkdirSync(stateDir);
  const driver = vmDriver({
    stateDir,
    log: silentLogger,
    support,
    findImage: async () => image,
    hasTemplates,
    ...(from === 'pool' && { pool: { size: 1, quietMs: 0 } }),
  });
  const remove = async (ids: readonly string[]) => void (await Promise.all(ids.map((id) => removeOne(driver, id))));
  own({
    async close() {
      await remove((await driver.list(signal)).map(({ id }) => id));
      await driver.close();
    },
  });
  const start = (spec: WorkspaceSpec) => startOne(driver, spec);
  if (hasTemplates) {
    const first = machineSpec();
    await start(first);
    await driver.templatesSettled();
    await driver.poolSettled();
    await remove([first.id]);
  }
  const templateOf = async (id: string) => {
    const { state } = JSON.parse(await readFile(join(stateDir, id, 'machine.json'), 'utf8')) as { readonly state?: string };
    if (state === undefined) throw new BenchError('a machine booted that was to be a copy');
    return { state, memory: join(state, '..', 'memory') };
  };
  return { support, image, start, remove, templateOf, poolSettled: () => driver.poolSettled() };
}

/** As vm.md of the docs has its examples: what most agents need. */
export function machineSpec(): WorkspaceSpec {
  const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
  return { id: newUid(), incarnation: newUid(), hostname: 'bench', resources, team: 1, egress: false };
}

async function startOne(driver: VmDriver, spec: WorkspaceSpec): Promise<number> {
  const { pid } = await driver.create(spec, signal);
  for (;;) {
    const state = await driver.get(spec.id, signal);
    if (state?.phase === 'running') break;
    if (state?.phase !== 'starting') throw new BenchError(`a machine ended: ${state?.failure}`);
    await delay(LOOK_MS);
  }
  const client = await connectGuest(await driver.connect(spec.id, 'control', signal), spec);
  client.close('measured');
  return pid ?? Number.NaN;
}

async function removeOne(driver: VmDriver, id: string): Promise<void> {
  for (;;) {
    await driver.delete(id, signal);
    if ((await driver.get(id, signal)) === undefined) return;
    await delay(LOOK_MS);
  }
}
