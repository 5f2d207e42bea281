/** The end of a machine: in good order if it can be told, and in any case. */
import { connectGuest } from '#guest/client.ts';
import type { GuestIdentity } from '#guest/handshake.ts';
import { AgentisoError } from '#lib/errors.ts';
import { isRunning, type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { untilGone } from '../local/until-gone.ts';
import type { Machine } from './machine.ts';

const SHUTDOWN_MS = 3_000;
/** From the word to the guest until QEMU is told. */
const POWER_OFF_MS = 10_000;

export async function powerOff(machine: Machine, main: ProcessIdentity, guest: GuestIdentity): Promise<void> {
  try {
    const signal = timeLimit(SHUTDOWN_MS);
    await machine.tell(async (stream) => (await connectGuest(stream, { ...guest, signal })).call('shutdown', {}), signal);
    await untilGone([main], POWER_OFF_MS);
  } catch {
    // A guest that cannot be told, or is not up yet: the machine is turned off below.
  }
  if (!isRunning(main) || (await quit(machine)) || machine.letGo.aborted) return;
  // Nobody can be told: its sockets went with its folder.
  signalProcess(main, 'SIGKILL');
}

/** False: nobody hears. */
export async function quit(machine: Machine): Promise<boolean> {
  try {
    const qmp = await machine.qmp(timeLimit(SHUTDOWN_MS));
    await qmp.execute('quit');
    return true;
  } catch (error) {
    return error instanceof AgentisoError && error.reason === 'MachineGone';
  }
}
