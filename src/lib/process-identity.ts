/**
 * Which process a pid meant when it was written down: pids are reused, a pid with its start time is not, until the machine boots again.
 * Reads of /proc are synchronous: they touch no disk, and nothing may happen between looking and signalling.
 */
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly startTime: number;
  readonly bootId: string;
}

export interface ProcessStat {
  readonly state: string;
  readonly startTime: number;
  readonly parent: number;
  /** Processor time of the process and of the children it has reaped. */
  readonly cpuTicks: number;
}

/** The command's name stands in parentheses and may itself contain any of them: only the last one closes it. */
export function parseProcessStat(text: string): ProcessStat {
  const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // Field 22 of the line; `state` is field 3 and rest[0] is field 4.
  const startTime = Number(rest[18]);
  if (!/^[A-Za-z]$/.test(state) || !Number.isSafeInteger(startTime)) throw new Error(`not a process stat line: ${text.slice(0, 200)}`);
  const cpuTicks = rest.slice(10, 14).reduce((sum, ticks) => sum + Number(ticks), 0);
  return { state, startTime, parent: Number(rest[0]), cpuTicks };
}

/** undefined: no such process, or one that has ended and only waits to be reaped. Throws when it cannot tell. */
export function readProcessIdentity(pid: number): ProcessIdentity | undefined {
  const text = readProcFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const { state, startTime } = parseProcessStat(text);
  return state === 'Z' || state === 'X' ? undefined : { pid, startTime, bootId: readBootId() };
}

export function isRunning({ pid, startTime, bootId }: ProcessIdentity): boolean {
  const now = readProcessIdentity(pid);
  return now !== undefined && now.startTime === startTime && now.bootId === bootId;
}

/** False: that process is gone, and whoever has its pid now was left alone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false;
    throw error;
  }
}

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function readProcFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // ESRCH: the process ended between open and read.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
