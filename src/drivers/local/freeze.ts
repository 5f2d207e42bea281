/** Control groups that are held still: all that is in them stands, memory and all, until they are let go. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentisoError } from '#lib/errors.ts';
import type { CgroupPlaces } from './cgroup-places.ts';

const LOOK_MS = 10;
const FREEZE_MS = 10_000;

export function canFreeze(places: CgroupPlaces | undefined): boolean {
  return places?.version === 2 || places?.parents['freezer'] !== undefined;
}

/** Resolves when every process stands; what goes on does so at once. */
export async function freezeGroups(groups: readonly string[], isFrozen: boolean): Promise<void> {
  setFrozen(groups, isFrozen);
  for (let waitedMs = 0; isFrozen && groups.some(isMoving); waitedMs += LOOK_MS) {
    if (waitedMs >= FREEZE_MS) {
      setFrozen(groups, false);
      throw new AgentisoError('Timeout', `the processes of the workspace did not stand still within ${FREEZE_MS / 1_000} s`);
    }
    await pause(LOOK_MS);
    // Version 1 gives up where something forks at the wrong moment, and is asked again.
    setFrozen(groups, true);
  }
}

/** Who is killed while it stands does not die before it is let go, where groups are of version 1. */
export function thawGroups(groups: readonly string[]): void {
  setFrozen(groups, false);
}

function setFrozen(groups: readonly string[], isFrozen: boolean): void {
  for (const group of groups) {
    write(join(group, 'cgroup.freeze'), isFrozen ? '1' : '0');
    write(join(group, 'freezer.state'), isFrozen ? 'FROZEN' : 'THAWED');
  }
}

function isMoving(group: string): boolean {
  const state = read(join(group, 'freezer.state'));
  if (state !== undefined) return state.trim() !== 'FROZEN';
  return existsSync(join(group, 'cgroup.freeze')) && !/^frozen 1$/m.test(read(join(group, 'cgroup.events')) ?? '');
}

/** Most groups have neither file, and one that is gone holds nobody. */
function write(path: string, text: string): void {
  ignoringAbsence(() => writeFileSync(path, text, { flag: 'r+' }));
}

function read(path: string): string | undefined {
  return ignoringAbsence(() => readFileSync(path, 'utf8'));
}

function ignoringAbsence<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!['ENOENT', 'ENODEV', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
}
