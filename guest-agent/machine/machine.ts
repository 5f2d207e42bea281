/** What a guest agent does in a virtual machine and nowhere else. */
import { join } from 'node:path';
import type { BindingOptions } from '../binding.ts';
import { stopOptimising } from './optimising.ts';
import { MachineSetUp, MEANS, readPrograms } from './set-up.ts';

/** Until nothing is seen for the first time: Node begins to remember what a function is called with after a few calls. */
const ROUNDS = 12;
/** Node has nothing to learn any more in a copy. */
const PREPARE_ROUNDS = 2;
const machine = new MachineSetUp(MEANS);

/** Bound, not wrapped: a function of its own would be compiled in every copy, and with it most of the compiler translated. */
export const setUp: NonNullable<BindingOptions['setUp']> = machine.apply.bind(machine);

export const wake: NonNullable<BindingOptions['wake']> = machine.wake.bind(machine);

export const syncFiles: NonNullable<BindingOptions['syncFiles']> = () => machine.disk.sync();

/** All that it will do for its agent is done once, on its own disk, for nobody: what that takes to translate and to read is there when its agent comes. */
export const prepare: NonNullable<BindingOptions['prepare']> = async (given, options) => {
  await machine.giveDisks(given, options.options);
  const { rehearse } = await import('./rehearsal.ts');
  await rehearse(machine, { device: MEANS.device, folder: join(options.options.stateDir, 'rehearsal'), rounds: PREPARE_ROUNDS }, options);
};

/** Of a machine that will be copied: all that a copy would have to do for the first time is done. */
export async function warmUp(options: BindingOptions): Promise<void> {
  stopOptimising();
  const { rehearse } = await import('./rehearsal.ts');
  await readPrograms();
  await rehearse(machine, { device: MEANS.device, folder: join(options.options.runDir, 'rehearsal'), rounds: ROUNDS }, options);
}
