/** What a workspace uses, summed over its processes: for machines and drivers without control groups. Pure. */
import type { Usage } from '../driver.ts';
import type { RunningProcess } from './processes.ts';

export function sumUsage(processes: readonly RunningProcess[]): Usage {
  const sum = (figure: (process: RunningProcess) => number) => processes.reduce((total, process) => total + figure(process), 0);
  return { cpuMs: sum(({ cpuMs }) => cpuMs), memoryBytes: sum(({ memoryBytes }) => memoryBytes), processes: processes.length };
}
