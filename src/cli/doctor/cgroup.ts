/** Whether limits on memory, processors and processes can be set: control groups of version 2 that we may divide, or of version 1. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, type Finding, missing, ok } from './check.ts';

export interface CgroupView {
  /** Text of /proc/self/cgroup. */
  readonly membership: string | undefined;
  /** A file of a control group's folder, below /sys/fs/cgroup. */
  read(path: string): string | undefined;
  isWritable(path: string): boolean;
}

const ROOT = '/sys/fs/cgroup';
const WANTED = ['cpu', 'memory', 'pids'];
const DELEGATE = { advice: 'run it as systemd-run --user --scope -p Delegate=yes agentiso …, or as a service with Delegate=yes' };
const UNIFIED = { advice: 'boot with systemd.unified_cgroup_hierarchy=1' };

export const cgroupCheck: Check = {
  name: 'cgroups',
  isNeeded: false,
  purpose: 'limits on memory, processors and processes',
  look: async () =>
    judgeCgroup({
      membership: read('/proc/self/cgroup'),
      read: (path) => read(join(ROOT, path)),
      isWritable: (path) => isWritable(join(ROOT, path)),
    }),
};

export function judgeCgroup({ membership, read: readIn, isWritable: mayWrite }: CgroupView): Finding {
  const own = /^0::(.*)$/m.exec(membership ?? '')?.[1];
  if (own === undefined || readIn('cgroup.controllers') === undefined) {
    return /:memory:/.test(membership ?? '') ? ok('version 1') : missing('not mounted', UNIFIED);
  }
  const controllers = (readIn(join(own, 'cgroup.controllers')) ?? '').trim().split(/\s+/);
  const lacking = WANTED.filter((name) => !controllers.includes(name));
  if (lacking.length > 0) return missing(`without ${lacking.join(', ')} in our own group ${own}`, DELEGATE);
  const isOurs = ['', 'cgroup.procs', 'cgroup.subtree_control'].every((file) => mayWrite(join(own, file)));
  return isOurs ? ok(`${WANTED.join(', ')} in ${own}`) : missing(`our own group ${own} is not ours to divide`, DELEGATE);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not there, which is the answer.
    return undefined;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // Not ours, which is the answer.
    return false;
  }
}
