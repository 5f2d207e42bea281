/** How a command ended, as the Status that clients read their exit code from. Pure. */
import { messageOf } from '#lib/errors.ts';
import { failure, type Status } from '../status.ts';

export function exitStatus(exitCode: number): Partial<Status> {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** Nobody knows how it ended. */
export function lostStatus(error: unknown): Partial<Status> {
  return failure(500, `Internal error occurred: ${messageOf(error)}`, { details: { causes: [{ message: messageOf(error) }] } }).status;
}
