/** What the conformance tests of drivers are given, and what they share. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Driver } from '#drivers/driver.ts';
import { SPEC } from '../support/driver-steps.ts';

export interface DriverUnderTest {
  readonly driver: Driver;
  /** The name by which open-driver.ts knows it. */
  readonly kind: string;
  readonly stateDir: string;
  /** Absent: the stand-in. */
  readonly guestAgentPath?: string;
  /** Lets go of all that the drivers before hold: nobody else can talk to their machines until then. */
  letGo?(): Promise<void>;
  /** Whoever opens one after the other. */
  opened?(driver: Driver): void;
  /** What is left of these workspaces outside of processes, whatever the driver says. */
  traces(...ids: string[]): Promise<string[]>;
  /** Pids of what runs of these workspaces, whatever the driver says. */
  processes(...ids: string[]): number[];
  /** Makes the driver's record of an exited workspace name a live process that has nothing to do with it. */
  recordStalePid(id: string, pid: number): Promise<void>;
  /** Takes the folder of a workspace away under it. */
  removeFolder(id: string): Promise<void>;
  dispose(): Promise<void>;
}

/** Of the test that runs. */
export interface Given {
  readonly subject: DriverUnderTest;
  readonly driver: Driver;
  /** Another one on the same state, as a daemon that starts has it. */
  reopen(): Promise<Driver>;
}

/** Where a machine differs from a process of this one. */
export interface Differences {
  /** Of a workspace that has a kernel of its own: its files are on a disk, its processes and sockets inside. */
  readonly isMachine: boolean;
}

export const SECOND = { ...SPEC, incarnation: 'second' };

/** Wherever they are: the name says which home and which workspace. Looked for once, however many are asked for: the whole tree is looked at. */
export function groupsOf(stateDir: string, ids: readonly string[]): string[] {
  const home = createHash('sha256').update(stateDir).digest('hex').slice(0, 8);
  const names = ids.flatMap((id) => ['-o', '-name', `agentiso-${home}-${id}`]).slice(1);
  const found = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '(', ...names, ')'], { encoding: 'utf8' });
  return found.stdout.split('\n').filter(Boolean);
}
