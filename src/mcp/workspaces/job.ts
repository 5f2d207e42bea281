/** A background job, as tools name and tell it. */
import { count, described, flag } from '#protocol/shape.ts';
import type { WorkspaceJobState } from '../workspace-io.ts';
import { exitCode } from './run.ts';

export const jobId = described(count, 'As workspace_exec_start gave it.');

export const jobStateFields = { running: flag };
export const jobStateOptions = {
  exit_code: described(exitCode, 'Only when it has ended. 128 + n: ended by signal n. -1: was over its time.'),
};

export function toJobAnswer({ isRunning, exitCode: code }: WorkspaceJobState): { running: boolean; exit_code?: number } {
  return { running: isRunning, ...(code !== undefined && { exit_code: code }) };
}
