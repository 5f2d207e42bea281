/** Where this daemon may make control groups: found by looking, decided by trying. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface CgroupPlaces {
  readonly version: 1 | 2;
  /** Controller (version 2: `unified`) and the group below which ours are made. */
  readonly parents: Readonly<Record<string, string>>;
}

/** What limits a sandbox needs; without these the mechanism is not worth its name. */
const REQUIRED = ['memory', 'pids'];
/** Where the daemon itself goes when its group is divided. */
const LEAF = 'agentiso-daemon';
const USEFUL = [...REQUIRED, 'cpu', 'cpuacct', 'freezer'];

export interface CgroupMount {
  readonly version: 1 | 2;
  readonly controllers: readonly string[];
  /** The part of the hierarchy that is mounted. */
  readonly root: string;
  readonly mountPoint: string;
}

/** Pure: the lines of /proc/self/mountinfo that are control groups. */
export function parseCgroupMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split('\n').flatMap((line): CgroupMount[] => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', mountPoint = ''] = before.split(' ');
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') return [{ version: 2, controllers: [], root, mountPoint }];
    if (type === 'cgroup') return [{ version: 1, controllers: options.split(','), root, mountPoint }];
    return [];
  });
}

/** Pure: controller to group from /proc/self/cgroup; version 2 under the empty name. */
export function parseOwnGroups(text: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [, controllers = '', ...path] = line.split(':');
    for (const controller of controllers.split(',')) groups.set(controller, path.join(':'));
  }
  return groups;
}

/** Pure: where a group is in the file system; undefined when it lies outside of what is mounted. */
export function groupPath({ root, mountPoint }: CgroupMount, group: string): string | undefined {
  if (root === '/') return join(mountPoint, group);
  if (group === root || group.startsWith(`${root}/`)) return join(mountPoint, group.slice(root.length));
  return undefined;
}

/** undefined: neither version is usable here. `probe` is the name of a group that nobody else uses. */
export function findCgroupPlaces(probe: string): CgroupPlaces | undefined {
  const mounts = parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  const own = parseOwnGroups(readFileSync('/proc/self/cgroup', 'utf8'));
  return unifiedPlace(mounts, own, probe) ?? separatePlaces(mounts, own, probe);
}

function unifiedPlace(mounts: readonly CgroupMount[], own: ReadonlyMap<string, string>, probe: string): CgroupPlaces | undefined {
  const mount = mounts.find(({ version }) => version === 2);
  const group = own.get('');
  const path = mount && group !== undefined ? groupPath(mount, group) : undefined;
  const parent = path !== undefined && basename(path) === LEAF ? dirname(path) : path;
  if (parent === undefined || !divideGroup(parent) || !canMakeGroup(parent, probe)) return undefined;
  return { version: 2, parents: { unified: parent } };
}

/** A group that is divided may hold no processes itself: the daemon moves to a leaf, if it is alone. */
function divideGroup(parent: string): boolean {
  const words = (file: string) => readFileSync(join(parent, file), 'utf8').split(/\s+/).filter(Boolean);
  return attempt(() => {
    const wanted = ['memory', 'pids', 'cpu'].filter((each) => words('cgroup.controllers').includes(each));
    if (!REQUIRED.every((each) => wanted.includes(each))) throw new Error('a required controller is missing');
    if (wanted.every((each) => words('cgroup.subtree_control').includes(each))) return;
    const enable = () => writeFileSync(join(parent, 'cgroup.subtree_control'), wanted.map((each) => `+${each}`).join(' '));
    if (attempt(enable)) return;
    if (words('cgroup.procs').join() !== String(process.pid)) throw new Error('the group is shared with other processes');
    const leaf = join(parent, LEAF);
    attempt(() => mkdirSync(leaf));
    writeFileSync(join(leaf, 'cgroup.procs'), String(process.pid));
    enable();
  });
}

function separatePlaces(mounts: readonly CgroupMount[], own: ReadonlyMap<string, string>, probe: string): CgroupPlaces | undefined {
  const parents: Record<string, string> = {};
  const taken = new Set<string>();
  for (const controller of USEFUL) {
    const mount = mounts.find((each) => each.version === 1 && each.controllers.includes(controller));
    const group = own.get(controller);
    const parent = mount && group !== undefined ? groupPath(mount, group) : undefined;
    // cpu and cpuacct are often one hierarchy.
    if (parent === undefined || taken.has(parent) || !canMakeGroup(parent, probe)) continue;
    parents[controller] = parent;
    taken.add(parent);
  }
  return REQUIRED.every((each) => each in parents) ? { version: 1, parents } : undefined;
}

function canMakeGroup(parent: string, probe: string): boolean {
  return attempt(() => {
    mkdirSync(join(parent, probe));
    rmdirSync(join(parent, probe));
  });
}

/** Whatever the reason, it means the same: not here. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
