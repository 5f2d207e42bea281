/**
 * One member of the warm pool: a copy of a template with a disk of its own, mounted, on which its guest has gone through its start once for nobody. It stands
 * still in a network where nobody is, and has no identity and no secret.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { prepareGuest } from '#guest/client.ts';
import { UnavailableError } from '#lib/errors.ts';
import { signalProcess } from '#lib/process-identity.ts';
import type { WorkspaceSpec } from '../driver.ts';
import { startGuest } from '../local/guest-process.ts';
import type { ReadyGuest, StartCommand } from '../local/launcher.ts';
import type { WorkspacePaths } from '../local/paths.ts';
import { removeMember } from '../local/pool-member.ts';
import type { PoolMember } from '../local/warm-pool.ts';
import { TOOLS } from '../sandbox/args.ts';
import { DISK_SERIAL, TOOLS_SERIAL } from './args.ts';
import { isEndedByKill } from './ended-by-kill.ts';
import { fairLimit, waitedForProcessorMs } from './fair-limit.ts';
import type { Machine } from './machine.ts';
import { restoreState } from './migration.ts';
import { pauseMachine } from './pause.ts';

export interface MemberStart {
  readonly paths: WorkspacePaths;
  readonly groups: readonly string[];
  readonly hasTools: boolean;
  /** Path of the state of its template. */
  readonly state: string;
  /** When its folders are there. */
  readonly prepare: () => Promise<{ readonly command: StartCommand; readonly machine: Machine }>;
  readonly bind: (guest: ReadyGuest['guest'], workspace: WorkspaceSpec, place: WorkspacePaths) => Promise<void>;
  readonly onRemoved: () => void;
  readonly signal: AbortSignal;
}

export type MachineMember = PoolMember & ReadyGuest;

/** The reason of the error when somebody has killed it as it began. */
export const KILLED = 'MemberKilled';

const START_MS = 120_000;

/** Resolves when it waits; nothing of it is left when it rejects. */
export async function startMember(start: MemberStart): Promise<MachineMember> {
  const { paths, groups, signal } = start;
  const { directory } = paths;
  let onEnd = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  let listener = () => {
    if (guest?.exit !== undefined) onEnd();
  };
  let machine: Machine | undefined;
  let guest: ReadyGuest['guest'] | undefined;
  const remove = async () => {
    void machine?.close();
    if (guest?.identity !== undefined) signalProcess(guest.identity, 'SIGKILL');
    start.onRemoved();
    await removeMember(directory, groups);
  };
  try {
    for (const path of [directory, paths.run, paths.state]) await mkdir(path, { mode: 0o700 });
    const prepared = await start.prepare();
    machine = prepared.machine;
    let waiting: Promise<void> = Promise.resolve();
    const awaitGuest = (_: WorkspacePaths, ended: AbortSignal, pid: number) => {
      const limit = fairLimit(START_MS, () => waitedForProcessorMs(pid));
      waiting = letWait(prepared.machine, start, AbortSignal.any([signal, ended, limit]));
      return waiting;
    };
    const command = { ...prepared.command, endsWithDaemon: true };
    guest = await startGuest({ incarnation: '', command, paths, onChange: () => listener(), awaitGuest });
    await waiting;
  } catch (error) {
    const isKilled = guest !== undefined && !signal.aborted && (await isEndedByKill(guest.ended));
    await remove();
    throw isKilled ? new UnavailableError('somebody has killed it', { reason: KILLED, cause: error }) : error;
  }
  const started = guest;
  return {
    ...{ guest: started, groups, directory, remove, ended, isTakenOver: true },
    get isReady() {
      return started.isListening && started.exit === undefined;
    },
    watch(onChange) {
      listener = onChange;
    },
    bind: (workspace, place) => start.bind(started, workspace, place),
  };
}

async function letWait(machine: Machine, { state, hasTools }: MemberStart, signal: AbortSignal): Promise<void> {
  await restoreState(machine, { path: state, hasMemory: false, signal });
  const prepare = (stream: Duplex) => {
    const now = { seed: randomBytes(64).toString('hex'), timeMs: Date.now(), disk: DISK_SERIAL };
    return prepareGuest(stream, { ...now, ...(hasTools && { tools: { disk: TOOLS_SERIAL, place: TOOLS } }) }, signal);
  };
  await machine.tell(prepare, signal);
  await pauseMachine(machine, true);
}
