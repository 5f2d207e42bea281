/** `workspace_exec_poll`: what a background command has written, and how it is. */
import { MAX_PIECE_BYTES } from '#protocol/control.ts';
import { count, described, integer, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { JOB_HINTS } from '../workspaces/hints.ts';
import { jobId, jobStateFields, jobStateOptions, toJobAnswer } from '../workspaces/job.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const OUTPUT_BYTES = 65_536;
const next = (stream: string) => described(count, `Give it as ${stream}_offset next time to get only what is new.`);

const input = object(
  { ...targetFields, job_id: jobId },
  {
    ...targetOptions,
    stdout_offset: described(count, 'In bytes, from the last answer. Default 0.'),
    stderr_offset: described(count, 'In bytes, from the last answer. Default 0.'),
    max_output_bytes: described(integer({ min: 1, max: MAX_PIECE_BYTES }), `Of stdout and of stderr each. Default ${OUTPUT_BYTES}.`),
  },
);

export const workspaceExecPoll = defineTool({
  name: 'workspace_exec_poll',
  title: 'Read a background command',
  description:
    'Gives what a job of workspace_exec_start has written from the offsets on, whether it still runs, and its exit code when it has ended. ' +
    'Returns at once and removes nothing: the same offsets give the same output. The first 2 MiB of each stream are kept, and a job is ' +
    'forgotten an hour after its end. Do something else between two calls rather than calling again at once.',
  input,
  output: object(
    { ...jobStateFields, stdout: text, stderr: text, stdout_offset: next('stdout'), stderr_offset: next('stderr') },
    jobStateOptions,
  ),
  category: 'exec',
  isReadOnly: true,
  needsAdmin: true,
  quotesOthers: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    const { job_id, stdout_offset: stdoutOffset = 0, stderr_offset: stderrOffset = 0, max_output_bytes: maxBytes = OUTPUT_BYTES } = asked;
    const job = await withHint(
      call.workspaces.pollJob(workspace, { jobId: job_id, stdoutOffset, stderrOffset, maxBytes }, call.signal),
      JOB_HINTS,
    );
    return {
      ...toJobAnswer(job),
      stdout: job.stdout,
      stderr: job.stderr,
      stdout_offset: job.stdoutOffset,
      stderr_offset: job.stderrOffset,
    };
  },
});
