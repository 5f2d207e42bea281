/** The folder of a member of a warm pool: it becomes a workspace's by being renamed. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError } from '#lib/errors.ts';
import { killGroups, removeGroups } from './cgroup.ts';
import { type WorkspacePaths, workspacePaths } from './paths.ts';

/** How the folder of a member begins: no workspace can have such a name. */
export const MEMBER_FOLDER = '.pool-';
const LOOK_MS = 20;
const REMOVE_MS = 10_000;

/** As they are until it is somebody's. */
export function memberPaths(stateDir: string, name: string): WorkspacePaths {
  const directory = join(stateDir, `${MEMBER_FOLDER}${name}`);
  return {
    ...workspacePaths(name, { stateDir }),
    directory,
    run: join(directory, 'run'),
    state: join(directory, 'state'),
    log: join(directory, 'guest.log'),
  };
}

/** The kernel takes a moment to end everything that was in a sandbox or a machine. */
export async function removeMember(directory: string, groups: readonly string[]): Promise<void> {
  for (let waitedMs = 0; killGroups(groups) || !removeGroups(groups); waitedMs += LOOK_MS) {
    if (waitedMs > REMOVE_MS) throw new AgentisoError('Timeout', `processes of ${groups.join(', ')} do not end`);
    await pause(LOOK_MS);
  }
  await rm(directory, { recursive: true, force: true });
}
