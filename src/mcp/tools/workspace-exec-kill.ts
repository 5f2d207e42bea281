/** `workspace_exec_kill`: a signal to a background command. */
import { constants } from 'node:os';
import { described, integer, object } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { JOB_HINTS } from '../workspaces/hints.ts';
import { jobId, jobStateFields, jobStateOptions, toJobAnswer } from '../workspaces/job.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const { SIGKILL } = constants.signals;

const input = object(
  { ...targetFields, job_id: jobId },
  {
    ...targetOptions,
    signal: described(integer({ min: 1, max: 31 }), 'Number of the signal: 9 (the default) ends it, 15 asks it to end, 2 is Ctrl-C.'),
  },
);

export const workspaceExecKill = defineTool({
  name: 'workspace_exec_kill',
  title: 'End a background command',
  description:
    'Sends a signal to a job of workspace_exec_start and everything it has started, waits up to half a second, and says whether it still ' +
    'runs. A job that had ended already is no error. Its output stays readable with workspace_exec_poll.',
  input,
  output: object(jobStateFields, jobStateOptions),
  category: 'exec',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    const kill = { jobId: asked.job_id, signalNumber: asked.signal ?? SIGKILL };
    return toJobAnswer(await withHint(call.workspaces.killJob(workspace, kill, call.signal), JOB_HINTS));
  },
});
