/** Memory that belongs to a process alone, as the kernel counts it. */
import { readFileSync } from 'node:fs';
import { listProcesses, processTree, type RunningProcess } from '#drivers/local/processes.ts';
import { BenchError } from '../harness/operation.ts';

const KIB_PER_MIB = 1024;

/** Pure: of /proc/PID/smaps_rollup. */
export function parsePrivateMiB(rollup: string): number {
  const kibibytes = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, digits]) => Number(digits));
  if (kibibytes.length === 0) throw new BenchError('the kernel does not say what memory is private');
  return kibibytes.reduce((sum, each) => sum + each, 0) / KIB_PER_MIB;
}

export function privateMiB(pid: number): number {
  return parsePrivateMiB(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
}

export interface SandboxProcesses {
  /** The program that bubblewrap started. */
  readonly guest: RunningProcess;
  /** It, bubblewrap, and the launcher if there is one. */
  readonly all: readonly RunningProcess[];
}

/** `pid`: the process that stands for the sandbox outside. */
export function processesOf(pid: number): SandboxProcesses {
  const all = processTree(pid, listProcesses());
  const guest = all.find(({ namespacePids }) => namespacePids.length === 2 && namespacePids[1] === 2);
  if (guest === undefined) throw new BenchError('a sandbox without a guest');
  return { guest, all };
}
