/** What an earlier daemon left that is no workspace: members of its pool, and control groups without a workspace. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import { listGroups, removeGroups } from './cgroup.ts';
import type { CgroupPlaces } from './cgroup-places.ts';
import { isOfHost } from './launches.ts';
import { isWorkspaceId } from './paths.ts';
import { MEMBER_FOLDER, removeMember } from './pool-member.ts';
import { listPids, type RunningProcess, readCommandLine, readProcess } from './processes.ts';
import { readRecord, type WorkspaceRecord } from './record.ts';

export interface Sweep {
  readonly stateDir: string;
  readonly places: CgroupPlaces | undefined;
  /** How the names of this home's groups begin. */
  readonly groupPrefix: string;
  /** How the marks of this home's members begin. */
  readonly markPrefix: string;
}

const LOOK_MS = 20;
/** How long the kernel may take to end what was in a group. */
const ENDING_MS = 3_000;

/** Throws, and ends nothing, when it cannot read whose the processes are. */
export async function sweep({ stateDir, places, groupPrefix, markPrefix }: Sweep): Promise<void> {
  const names = await readdir(stateDir);
  const records = await readRecords(stateDir, names.filter(isWorkspaceId));
  const members = findMembers(markPrefix);
  const ended = unowned(
    members,
    records.flatMap(({ process }) => process ?? []),
  );
  for (const { process } of ended) signalProcess(process, 'SIGKILL');
  const endedNames = new Set(ended.map(({ mark }) => mark.slice(markPrefix.length)));
  const groups = places === undefined ? new Map<string, string[]>() : listGroups(places, groupPrefix);
  const ownedGroups = new Set(records.flatMap((record) => record.groups ?? []));
  const ending: Promise<void>[] = [];
  for (const [group, paths] of groups) {
    const name = group.slice(groupPrefix.length);
    if (paths.some((path) => ownedGroups.has(path)) || names.includes(name)) continue;
    if (endedNames.has(name)) await removeMember(join(stateDir, `${MEMBER_FOLDER}${name}`), paths);
    else ending.push(removeWhenEmpty(paths));
  }
  await Promise.all(ending);
  for (const name of names.filter((each) => each.startsWith(MEMBER_FOLDER))) await removeMember(join(stateDir, name), []);
}

/**
 * One with processes is a workspace whose folder is gone: not for us to end. Or a member that ends by itself, because its daemon has: of that nothing can be
 * read any more, and its groups can be removed a moment later.
 */
async function removeWhenEmpty(groups: readonly string[]): Promise<void> {
  for (let waitedMs = 0; !removeGroups(groups) && waitedMs < ENDING_MS; waitedMs += LOOK_MS) await pause(LOOK_MS);
}

async function readRecords(stateDir: string, ids: readonly string[]): Promise<WorkspaceRecord[]> {
  const records = await Promise.all(ids.map((id) => readRecord(join(stateDir, id, 'record.json'))));
  return records.filter((record) => record !== undefined);
}

interface MarkedProcess {
  readonly mark: string;
  readonly process: RunningProcess;
}

function findMembers(markPrefix: string): MarkedProcess[] {
  return listPids().flatMap((pid) => {
    const mark = readCommandLine(pid).find((word) => word.startsWith(markPrefix));
    const process = mark === undefined ? undefined : readProcess(pid);
    return mark !== undefined && process !== undefined && isOfHost(process) ? [{ mark, process }] : [];
  });
}

/** Pure but for looking who still runs: a member belongs to a workspace when one of its processes is the one a record names. */
export function unowned(found: readonly MarkedProcess[], kept: readonly ProcessIdentity[]): MarkedProcess[] {
  const isKept = ({ pid, startTime }: RunningProcess) =>
    kept.some((each) => each.pid === pid && each.startTime === startTime && isRunning(each));
  const keptMarks = new Set(found.filter(({ process }) => isKept(process)).map(({ mark }) => mark));
  return found.filter(({ mark }) => !keptMarks.has(mark));
}
