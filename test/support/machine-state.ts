/** What agents leave on a machine while they run: namespaces, control groups, mounts, processes. For comparing before and after. */
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { processesMentioning } from './processes.ts';

export interface MachineState {
  readonly namespaces: readonly string[];
  readonly groups: readonly string[];
  readonly mounts: readonly string[];
  readonly processes: readonly string[];
  /** Of sandboxes that were started ahead, whoever has them now: a daemon that runs has some, also when nobody asks for an agent. */
  readonly ahead: readonly string[];
}

/** Of one home, by the marks that it gives: its path, and hashes of it. `uids` are those of its agents: a sandbox shows nothing else. */
export function machineStateOf(home: string, uids: readonly string[]): MachineState {
  const real = existsSync(home) ? realpathSync(home) : home;
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 8);
  const pids = processesMentioning(real, ...uids);
  const pool = new Set(processesMentioning('agentiso-pool-'));
  const processes = (wanted: readonly number[]) =>
    wanted.map((pid) => `${pid} ${commandLine(pid)}`).filter((line) => !line.includes('agentiso.js serve'));
  return {
    namespaces: namesIn('/run/netns').filter((name) => name === `agentiso-${hash}` || name.startsWith(`agentiso-${hash}-`)),
    groups: uids.flatMap((uid) => groupsMentioning(uid)),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(real)),
    processes: processes(pids.filter((pid) => !pool.has(pid))),
    ahead: processes(pids.filter((pid) => pool.has(pid))),
  };
}

export const NOTHING_LEFT: MachineState = { namespaces: [], groups: [], mounts: [], processes: [], ahead: [] };

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Below every controller, two levels of groups are looked at: agentiso makes its own directly below the daemon's. */
function groupsMentioning(text: string): string[] {
  const root = '/sys/fs/cgroup';
  const found: string[] = [];
  const look = (directory: string, depth: number) => {
    for (const entry of entriesIn(directory)) {
      if (!entry.isDirectory()) continue;
      const path = join(directory, entry.name);
      if (entry.name.includes(text)) found.push(path);
      else if (depth > 0) look(path, depth - 1);
    }
  };
  if (existsSync(root)) look(root, 4);
  return found;
}

/** A group may go while we look. */
function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 300);
  } catch {
    return '(ended)';
  }
}
