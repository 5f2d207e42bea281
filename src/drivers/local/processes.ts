/** What runs on this machine, as /proc shows it: read in one go, then only looked at. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type ProcessIdentity, parseProcessStat, readBootId } from '#lib/process-identity.ts';

export interface RunningProcess extends ProcessIdentity {
  readonly parent: number;
  /** Its pid in every pid namespace it is in, from ours down to its own. */
  readonly namespacePids: readonly number[];
  readonly cpuMs: number;
  /** Its own memory, without what it shares with others that run the same program. */
  readonly memoryBytes: number;
}

/** The unit of times in /proc: fixed on Linux, whatever the kernel's own clock does. */
const TICK_MS = 10;

export function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .map(Number);
}

export function listProcesses(): RunningProcess[] {
  const bootId = readBootId();
  return listPids()
    .map((pid) => readProcess(pid, bootId))
    .filter((process) => process !== undefined);
}

/** undefined: gone, or ended and not reaped. */
export function readProcess(pid: number, bootId: string = readBootId()): RunningProcess | undefined {
  const stat = readProcFile(pid, 'stat');
  const status = readProcFile(pid, 'status');
  if (stat === '' || status === '') return undefined;
  const { state, startTime, parent, cpuTicks } = parseProcessStat(stat);
  if (state === 'Z' || state === 'X') return undefined;
  return { pid, startTime, bootId, parent, cpuMs: cpuTicks * TICK_MS, ...parseStatus(status) };
}

/** Pure. */
export function parseStatus(status: string): Pick<RunningProcess, 'namespacePids' | 'memoryBytes'> {
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  const kibibytes = (name: string) => Number.parseInt(field(name), 10) || 0;
  return {
    namespacePids: field('NSpid').split(/\s+/).filter(Boolean).map(Number),
    memoryBytes: (kibibytes('RssAnon') + kibibytes('RssShmem')) * 1024,
  };
}

/** Words of its command line; empty for a kernel thread and for what is gone. */
export function readCommandLine(pid: number): string[] {
  return readProcFile(pid, 'cmdline').split('\0').slice(0, -1);
}

/** The process and all that descend from it, without looking at all others where the kernel can tell. */
export function readTree(root: number): RunningProcess[] {
  const bootId = readBootId();
  const first = readProcess(root, bootId);
  if (first === undefined) return [];
  if (!existsSync(`/proc/${root}/task/${root}/children`)) return processTree(root, listProcesses());
  const found = [first];
  for (const { pid } of found) {
    for (const child of readChildren(pid)) {
      const process = readProcess(child, bootId);
      if (process !== undefined) found.push(process);
    }
  }
  return found;
}

/** Every thread has children of its own. */
function readChildren(pid: number): number[] {
  const threads = ignoringGone([], () => readdirSync(`/proc/${pid}/task`));
  return threads.flatMap((thread) => readProcFile(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number));
}

/** Pure: the process and all that descend from it. */
export function processTree(root: number, processes: readonly RunningProcess[]): RunningProcess[] {
  const children = groupByParent(processes);
  const found = processes.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function groupByParent(processes: readonly RunningProcess[]): Map<number, RunningProcess[]> {
  const groups = new Map<number, RunningProcess[]>();
  for (const process of processes) groups.set(process.parent, [...(groups.get(process.parent) ?? []), process]);
  return groups;
}

function readProcFile(pid: number, name: string): string {
  return ignoringGone('', () => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
}

/** Gone meanwhile, or of another user and hidden from us. */
function ignoringGone<T>(instead: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return instead;
    throw error;
  }
}
