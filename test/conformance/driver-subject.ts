/** What the conformance tests of drivers are given, and what they share. */
import type { Driver } from '#drivers/driver.ts';
import { SPEC } from '../support/driver-steps.ts';

export interface DriverUnderTest {
  readonly driver: Driver;
  /** The name by which open-driver.ts knows it. */
  readonly kind: string;
  readonly stateDir: string;
  /** What is left of this workspace outside of processes, whatever the driver says. */
  traces(id: string): Promise<string[]>;
  /** Pids of what runs of this workspace, whatever the driver says. */
  processes(id: string): number[];
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

export const SECOND = { ...SPEC, incarnation: 'second' };
