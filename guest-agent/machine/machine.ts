/** What a guest agent does in a virtual machine and nowhere else. */
import type { BindingOptions } from '../binding.ts';
import { stopOptimising } from './optimising.ts';
import { MachineSetUp, MEANS, readPrograms } from './set-up.ts';

const machine = new MachineSetUp(MEANS);

/** Bound, not wrapped: a function of its own would be compiled in every copy, and with it most of the compiler translated. */
export const setUp: NonNullable<BindingOptions['setUp']> = machine.apply.bind(machine);

export const wake: NonNullable<BindingOptions['wake']> = machine.wake.bind(machine);

export const syncFiles: NonNullable<BindingOptions['syncFiles']> = () => machine.disk.sync();

/** Of a machine that will be copied: all that a copy would have to do for the first time is done. */
export async function warmUp(options: BindingOptions): Promise<void> {
  stopOptimising();
  const { rehearse } = await import('./rehearsal.ts');
  await readPrograms();
  await rehearse(machine, MEANS.device, options);
}
