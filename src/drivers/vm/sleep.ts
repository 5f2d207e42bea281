/** Suspends a machine to the disk, and lets it go on from there: the same programs with the same open files, told what time it has become. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { connectGuest } from '#guest/client.ts';
import { ConflictError } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Room } from '../local/free-disk.ts';
import type { WorkspacePaths } from '../local/paths.ts';
import type { Machine } from './machine.ts';
import { type MachineFile, readMachineFile } from './machine-file.ts';
import { restoreState, saveState } from './migration.ts';
import { pauseMachine } from './pause.ts';
import { discard, save, savedState } from './saved.ts';

const MIB = 1024 ** 2;
/** A disk that writes less in a second is not waited for. */
const MIB_PER_SECOND = 20;
const LEAST_MS = 30_000;
/** An emulated processor on a busy machine takes its time. */
const WAKE_MS = 60_000;

export function cannotBeSaved(why = 'what this machine was started as is not known'): ConflictError {
  return new ConflictError(why, { reason: 'SuspendUnsupported', hint: 'stop it instead' });
}

interface Saving {
  readonly room: Room;
  readonly signal: AbortSignal;
}

/** It stands still from then on; when this rejects, it goes on. */
export async function saveMachine(machine: Machine, { directory, run }: WorkspacePaths, { room, signal }: Saving): Promise<void> {
  const known = await readMachineFile(directory);
  if (known?.started === undefined) throw cannotBeSaved();
  const { kind, tools } = known.started;
  if (kind.transport === 'vsock') throw cannotBeSaved('a machine that is reached by vsock cannot be suspended');
  await room(kind.memoryMiB * MIB, 'what is in its memory');
  const limit = timeLimit(LEAST_MS + (kind.memoryMiB / MIB_PER_SECOND) * 1_000);
  const { kernel, initrd, root } = kind.image;
  const files = { kernel, initrd, root, ...(tools !== undefined && { tools }) };
  const write = (path: string) => saveState(machine, { run, path, hasMemory: true, signal: AbortSignal.any([signal, limit]) });
  try {
    await save(directory, files, write);
  } catch (error) {
    // One that has ended has nothing to go on with.
    await pauseMachine(machine, false).catch(() => {});
    throw error;
  }
}

/** Also for one that another daemon has started: whatever is missing is done. */
export async function wakeMachine(machine: Machine, directory: string, known: MachineFile, signal: AbortSignal): Promise<void> {
  const onLoaded = () => discard(directory);
  await restoreState(machine, { path: savedState(directory).path, hasMemory: true, signal, onLoaded });
  const wake = async (stream: Duplex) => {
    const client = await connectGuest(stream, { ...known, signal });
    const { link } = known;
    const now = { seed: randomBytes(64).toString('hex'), timeMs: Date.now(), ...(link && { link }) };
    await client.call('wake', now, { signal, deadlineMs: WAKE_MS });
    client.close('told what time it is');
  };
  await machine.tell(wake, signal);
}
