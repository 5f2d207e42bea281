/** How a command ended, as the Status that clients read their exit code from. Pure. */
import { messageOf } from '#lib/errors.ts';
import { failure, type Status } from '../status.ts';

/** What a shell says of a command that cannot be run. kubectl takes no negative number for an exit code. */
const NOT_RUN = 126;

export function exitStatus(ended: number): Partial<Status> {
  const exitCode = ended < 0 ? NOT_RUN : ended;
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** Nobody knows how it ended. An agent that is gone took the command with it, and that is no fault in here. */
export function lostStatus(error: unknown): Partial<Status> {
  if (isUnavailable(error)) {
    return failure(503, 'the agent ended, or was stopped, before the command did', { details: { causes: [{ message: messageOf(error) }] } })
      .status;
  }
  return failure(500, `Internal error occurred: ${messageOf(error)}`, { details: { causes: [{ message: messageOf(error) }] } }).status;
}

/** Also an error of the wire, whose class is not known here. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'Unavailable';
}
