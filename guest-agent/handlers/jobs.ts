/** jobStart, jobPoll, jobKill, jobList. */
import type { ControlHandlers } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { JobTable, toJobState } from '../jobs/job-table.ts';
import { checkNotStopping, startFailure, toCommand } from './command.ts';

const USUAL_POLL_BYTES = 262_144;

export function jobHandlers(guest: Guest): Pick<ControlHandlers, 'jobStart' | 'jobPoll' | 'jobKill' | 'jobList'> {
  const jobs = new JobTable();
  return {
    async jobStart(params) {
      checkNotStopping(guest);
      const { jobId } = await jobs.start({ ...(await toCommand(guest, params)), timeoutMs: params.timeoutMs }).catch(failStart);
      return { jobId };
    },
    async jobPoll({ jobId, stdoutOffset = 0, stderrOffset = 0, maxBytes = USUAL_POLL_BYTES }) {
      const job = jobs.get(jobId);
      const stdout = job.stdout.read(stdoutOffset, maxBytes);
      const stderr = job.stderr.read(stderrOffset, maxBytes);
      return { state: toJobState(job), stdout: stdout.text, stderr: stderr.text, stdoutNext: stdout.next, stderrNext: stderr.next };
    },
    async jobKill({ jobId, signal }) {
      return { state: toJobState(await jobs.kill(jobId, signal)) };
    },
    async jobList() {
      return { jobs: jobs.list().map(toJobState) };
    },
  };
}

/** A job that never began has no output to say so in. */
function failStart(error: unknown): never {
  if (error instanceof ProtocolError) throw error;
  throw new ProtocolError('Invalid', startFailure(error), error);
}
