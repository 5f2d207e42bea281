/** What the driver must still know after the daemon died: which process is this workspace. */
import { closeSync, fsync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { errnoOf, type ProcessIdentity } from '#lib/process-identity.ts';

const synced = promisify(fsync);
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'];

export interface WorkspaceRecord {
  readonly id: string;
  readonly incarnation: string;
  /** Absent: no guest was started, or the daemon died at that very moment; then its command line tells. */
  readonly process?: ProcessIdentity;
  /** Control groups made for it, by path. */
  readonly groups?: readonly string[];
}

/** undefined: there is no record. Throws for one that cannot be read, because a process may be behind it. */
export async function readRecord(path: string): Promise<WorkspaceRecord | undefined> {
  try {
    return parseRecord(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    // What this process lacks is not the record's fault.
    if (PASSING.includes(errnoOf(cause) ?? '')) throw cause;
    throw new AgentisoError('IoError', `cannot read the workspace record ${path}: ${messageOf(cause)}`, {
      reason: 'RecordUnreadable',
      hint: 'make sure that no process of this workspace is running, then remove this file: the agent starts again with its files',
      cause,
    });
  }
}

/** Whole or not at all, also when the power goes. Of all that is done here only the disk takes long enough to be waited for. */
export async function writeRecord(path: string, record: WorkspaceRecord): Promise<void> {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(record)}\n`);
    await synced(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

function parseRecord(value: unknown): WorkspaceRecord {
  const { id, incarnation, process, groups } = value as Partial<WorkspaceRecord>;
  if (typeof id !== 'string' || typeof incarnation !== 'string') throw new Error('id and incarnation must be strings');
  return {
    id,
    incarnation,
    ...(process !== undefined && { process: parseProcess(process) }),
    ...(groups !== undefined && { groups: parseGroups(groups) }),
  };
}

function parseGroups(groups: unknown): readonly string[] {
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string')) throw new Error('groups must be paths');
  return groups;
}

function parseProcess({ pid, startTime, bootId }: Partial<ProcessIdentity>): ProcessIdentity {
  if (!isPositiveInteger(pid) || !isPositiveInteger(startTime) || typeof bootId !== 'string')
    throw new Error('process must have pid, startTime and bootId');
  return { pid, startTime, bootId };
}

/** A pid of 0 or below would mean a whole process group. */
function isPositiveInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
