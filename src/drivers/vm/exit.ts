/** Why a machine has ended: QEMU's exit code is 0 for nearly everything, so its own word, the console and what was asked for decide. */
import { join } from 'node:path';
import { isPresent } from '../local/directories.ts';
import { readLogTail } from '../local/log-tail.ts';

export interface MachineExit {
  readonly directory: string;
  /** What QEMU itself complained about. */
  readonly log: string;
  /** How its process ended; undefined when no daemon watched. */
  readonly exit: string | undefined;
  readonly reason: string | undefined;
}

/** The second init says so before it turns the machine off. */
const IN_GOOD_ORDER = 'agentiso: the guest agent ended with 0';

/** undefined: in good order. */
export async function explainMachineExit({ directory, log, exit, reason }: MachineExit): Promise<string | undefined> {
  const [console, complaints] = await Promise.all([join(directory, 'console.log'), log].map(readIfThere));
  return judgeExit({ console: console ?? '', complaints: complaints ?? '', exit, reason });
}

/** Pure. */
export function judgeExit({
  console,
  complaints,
  exit,
  reason,
}: Omit<MachineExit, 'directory' | 'log'> & Record<'console' | 'complaints', string>) {
  if (exit === 'exited with code 0' && console.includes(IN_GOOD_ORDER)) return undefined;
  const why = reason === undefined ? '' : ` (${reason})`;
  return [`the machine ${exit ?? 'ended while no daemon watched it'}${why}`, console, complaints].filter(Boolean).join('\n');
}

async function readIfThere(path: string): Promise<string> {
  return (await isPresent(path)) ? (await readLogTail(path)).replaceAll('\r', '') : '';
}
