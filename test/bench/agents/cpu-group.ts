/**
 * The CPU time of this process and of all it starts, wherever they go: a control group of version 2 counts it even where it limits nothing.
 * What a process tells about its children would not do, because nobody waits for those inside a pid namespace but its first process.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupPath, parseCgroupMounts, parseOwnGroups } from '#drivers/local/cgroup-places.ts';
import { type Closable, MissingToolError } from '../harness/operation.ts';

export interface CpuGroup extends Closable {
  /** Of everything, from the beginning. */
  cpuMs(): number;
}

/** Moves this process, and back when it is closed. To be entered before anybody looks where groups can be made. */
export function enterCpuGroup(): CpuGroup {
  const before = ownGroup();
  const group = join(before, `agentiso-bench-${process.pid}`);
  try {
    mkdirSync(group);
    moveTo(group, String(process.pid));
  } catch (cause) {
    throw new MissingToolError('CPU time is measured with a control group of version 2, and here none can be made', { cause });
  }
  const leave = () => {
    // Also those that this process has started and that stay, such as a compiler's.
    for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) moveTo(before, pid);
    for (const entry of readdirSync(group, { withFileTypes: true })) if (entry.isDirectory()) rmdirSync(join(group, entry.name));
    rmdirSync(group);
  };
  process.prependOnceListener('exit', leave);
  return {
    cpuMs: () => parseCpuMs(readFileSync(join(group, 'cpu.stat'), 'utf8')),
    async close() {
      process.off('exit', leave);
      leave();
    },
  };
}

/** Pure. */
export function parseCpuMs(cpuStat: string): number {
  return Number(/^usage_usec (\d+)$/m.exec(cpuStat)?.[1] ?? Number.NaN) / 1_000;
}

function ownGroup(): string {
  const mount = parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8')).find(({ version }) => version === 2);
  const group = parseOwnGroups(readFileSync('/proc/self/cgroup', 'utf8')).get('');
  const path = mount && group !== undefined ? groupPath(mount, group) : undefined;
  if (path === undefined) throw new MissingToolError('CPU time is measured with a control group of version 2, and here is none');
  return path;
}

function moveTo(group: string, pid: string): void {
  writeFileSync(join(group, 'cgroup.procs'), pid);
}
