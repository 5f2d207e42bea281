/** The guest of a machine is told who it is, and the machine made its own. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { bindGuest } from '#guest/client.ts';
import { AgentisoError, WaitingError } from '#lib/errors.ts';
import { TOOLS } from '../sandbox/args.ts';
import { DISK_SERIAL, TOOLS_SERIAL } from './args.ts';
import type { MachineFile } from './machine-file.ts';

/** A guest that is bound already has been so by this daemon or the one before. */
export async function bindMachine(stream: Duplex, known: MachineFile, signal: AbortSignal): Promise<void> {
  const { id, incarnation, hostname, link, egress = false, hasTools } = known;
  const machine = {
    ...{ seed: randomBytes(64).toString('hex'), timeMs: Date.now(), disk: DISK_SERIAL, egress },
    ...(link && { link }),
    ...(hasTools && { tools: { disk: TOOLS_SERIAL, place: TOOLS } }),
  };
  try {
    await bindGuest(stream, { id, incarnation, hostname, machine }, signal);
  } catch (error) {
    if (!(error instanceof AgentisoError && error.code === 'Conflict')) throw error;
    if (error.message.includes(`is ${id} incarnation ${incarnation} `)) return;
    // By a daemon that has died in the middle of it.
    if (error.message.includes('just being given its identity')) throw new WaitingError('GuestBinding', error.message, 100);
    throw error;
  }
}
