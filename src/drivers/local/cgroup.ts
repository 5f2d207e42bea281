/**
 * Control groups of sandboxes: version 2 where the daemon may divide its own group, version 1 where it may make groups below its own.
 * Groups are always below the daemon's own: what limits the daemon goes on to limit what it starts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ProcessIdentity, readProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import type { Resources, Usage } from '../driver.ts';
import type { CgroupPlaces } from './cgroup-places.ts';
import { thawGroups } from './freeze.ts';

const MAX_PROCESSES = 512;
const PERIOD_US = 100_000;
const MIB = 1024 * 1024;

/** Pure: file name in the group and what is written to it, by controller. */
export function limitsOf(
  { vcpus, memoryMiB }: Resources,
  version: 1 | 2,
): Readonly<Record<string, readonly (readonly [string, string])[]>> {
  const memory = String(memoryMiB * MIB);
  const quota = String(Math.round(vcpus * PERIOD_US));
  if (version === 2) {
    return {
      unified: [
        ['memory.max', memory],
        ['memory.swap.max', '0'],
        ['pids.max', String(MAX_PROCESSES)],
        ['cpu.max', `${quota} ${PERIOD_US}`],
      ],
    };
  }
  return {
    memory: [
      ['memory.limit_in_bytes', memory],
      ['memory.memsw.limit_in_bytes', memory],
    ],
    pids: [['pids.max', String(MAX_PROCESSES)]],
    cpu: [
      ['cpu.cfs_period_us', String(PERIOD_US)],
      ['cpu.cfs_quota_us', quota],
    ],
  };
}

/** Not every kernel counts swap or divides processors; the rest must hold. */
const MAY_BE_MISSING = ['memory.swap.max', 'memory.memsw.limit_in_bytes', 'cpu.max', 'cpu.cfs_period_us', 'cpu.cfs_quota_us'];

/** Gives the paths of the groups. */
export function ensureGroups(places: CgroupPlaces, name: string, resources: Resources): string[] {
  const limits = limitsOf(resources, places.version);
  return Object.entries(places.parents).map(([controller, parent]) => {
    const group = join(parent, name);
    // What an earlier one was limited to may stand in the way of new limits.
    if (existsSync(group)) ignoring(['ENOENT', 'EBUSY'], () => rmdirSync(group));
    ignoring(['EEXIST'], () => mkdirSync(group));
    for (const [file, value] of limits[controller] ?? []) {
      const accepted = MAY_BE_MISSING.includes(file) ? ['ENOENT', 'EACCES', 'EPERM', 'EINVAL'] : [];
      ignoring(accepted, () => writeFileSync(join(group, file), value));
    }
    return group;
  });
}

/**
 * The files by which a shell joins these groups when it writes 0 to them. In version 1 it joins as a thread, and it has no other: before the kernel
 * moves a whole process, it waits until nobody on the machine forks, which takes milliseconds.
 */
export function joinFiles(places: CgroupPlaces | undefined, groups: readonly string[]): string[] {
  return groups.map((group) => join(group, places?.version === 1 ? 'tasks' : 'cgroup.procs'));
}

/** Kills all members; true when there were some. */
export function killGroups(groups: readonly string[]): boolean {
  const members = groups.flatMap(membersOf);
  if (members.length === 0) return false;
  for (const group of groups) ignoring(['ENOENT', 'EACCES'], () => writeFileSync(join(group, 'cgroup.kill'), '1', { flag: 'r+' }));
  for (const member of members) signalProcess(member, 'SIGKILL');
  thawGroups(groups);
  return true;
}

/** Of groups without members. False: one of them still has some, if only for a moment. */
export function removeGroups(groups: readonly string[]): boolean {
  for (const group of groups) ignoring(['ENOENT', 'ENODEV', 'EBUSY'], () => rmdirSync(group));
  return !groups.some((group) => existsSync(group));
}

/** How the names of one driver's groups begin: they tell the homes of one machine apart. */
export function groupPrefix(stateDir: string): string {
  return `agentiso-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}-`;
}

/** Which of our groups are there, by name and path: some may have outlived their workspace. */
export function listGroups(places: CgroupPlaces, prefix: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const parent of Object.values(places.parents)) {
    for (const entry of readdirSync(parent, { withFileTypes: true })) {
      if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
      found.set(entry.name, [...(found.get(entry.name) ?? []), join(parent, entry.name)]);
    }
  }
  return found;
}

/** undefined: the groups do not tell, ask the processes. */
export function groupUsage(groups: readonly string[]): Usage | undefined {
  const read = (file: string) => groups.map((group) => readOptional(join(group, file))).find((text) => text !== undefined);
  const memory = read('memory.current') ?? read('memory.usage_in_bytes');
  const processes = read('pids.current');
  const microseconds = /usage_usec (\d+)/.exec(read('cpu.stat') ?? '')?.[1];
  const nanoseconds = read('cpuacct.usage');
  const cpuMs = microseconds === undefined ? nanoseconds && Number(nanoseconds) / 1e6 : Number(microseconds) / 1e3;
  if (memory === undefined || processes === undefined || typeof cpuMs !== 'number') return undefined;
  return { cpuMs: Math.round(cpuMs), memoryBytes: Number(memory), processes: Number(processes) };
}

/**
 * Which limit of processes kept members from starting more; undefined when none did. The kernel counts the refusals where they were met, and
 * the limit may be that of a group further up: the lowest one is it.
 */
export function processLimitMet(groups: readonly string[]): { readonly limit: number; readonly isOwn: boolean } | undefined {
  const group = groups.find((each) => refusalsIn(join(each, 'pids.events')) > 0);
  if (group === undefined) return undefined;
  const own = limitIn(group);
  let lowest = own;
  for (let above = dirname(group); existsSync(join(above, 'pids.max')); above = dirname(above)) lowest = Math.min(lowest, limitIn(above));
  return Number.isFinite(lowest) ? { limit: lowest, isOwn: lowest === own } : undefined;
}

/** Most groups of version 1 have no such file, and whoever asks for one that is not there waits for the error to be made. */
function refusalsIn(events: string): number {
  return existsSync(events) ? Number(/^max (\d+)$/m.exec(readOptional(events) ?? '')?.[1] ?? 0) : 0;
}

/** Nearly full is full: who is refused ends, and tries again. */
const FULL = 0.95;

/** The limit that was met, while it is met: one that has let processes go since is none to tell of. */
export function processLimitHeld(groups: readonly string[]): ReturnType<typeof processLimitMet> {
  const met = processLimitMet(groups);
  return met !== undefined && placesOf(groups).some((each) => Number(readOptional(join(each, 'pids.current'))) >= FULL * met.limit)
    ? met
    : undefined;
}

/** The groups that count processes, and those above. */
function placesOf(groups: readonly string[]): string[] {
  const places: string[] = [];
  for (const group of groups) for (let each = group; existsSync(join(each, 'pids.max')); each = dirname(each)) places.push(each);
  return places;
}

/** A group without a limit says `max`. */
function limitIn(group: string): number {
  const limit = Number(readOptional(join(group, 'pids.max')));
  return Number.isInteger(limit) ? limit : Number.POSITIVE_INFINITY;
}

/** A record is ours, and still nobody is killed on its word alone: the group must have a name that this home gives. */
export function ownGroups(groups: readonly string[] | undefined, prefix: string): string[] {
  return (groups ?? []).filter((group) => basename(group).startsWith(prefix));
}

function membersOf(group: string): ProcessIdentity[] {
  const pids = (readOptional(join(group, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  return pids.map((pid) => readProcessIdentity(pid)).filter((identity) => identity !== undefined);
}

function readOptional(path: string): string | undefined {
  let text: string | undefined;
  ignoring(['ENOENT', 'ENODEV', 'EACCES'], () => {
    text = readFileSync(path, 'utf8');
  });
  return text;
}

function ignoring(codes: readonly string[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
