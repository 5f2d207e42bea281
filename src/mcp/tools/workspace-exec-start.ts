/** `workspace_exec_start`: a command that outlives the call. */
import { count, described, object } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { commandFields, MAX_TIMEOUT_SECONDS, timeoutSeconds, toCommand, withCommand } from '../workspaces/command.ts';
import { COMMAND_HINTS } from '../workspaces/hints.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const input = withCommand(
  object(targetFields, {
    ...targetOptions,
    ...commandFields,
    timeout_seconds: described(timeoutSeconds, `After this time it is ended. Default: never; at most ${MAX_TIMEOUT_SECONDS}.`),
  }),
);

export const workspaceExecStart = defineTool({
  name: 'workspace_exec_start',
  title: 'Start a command in the background',
  description:
    'Starts a command in the workspace of an agent and returns at once with its job_id: for servers, builds and tests that take long. ' +
    'Read its output and how it ended with workspace_exec_poll, end it with workspace_exec_kill. It ends with the workspace.',
  input,
  output: object({ job_id: described(count, 'Counted per workspace. For workspace_exec_poll and workspace_exec_kill.') }),
  category: 'exec',
  isReadOnly: false,
  isDestructive: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    const timeout = asked.timeout_seconds === undefined ? {} : { timeoutMs: asked.timeout_seconds * 1000 };
    const { jobId } = await withHint(call.workspaces.startJob(workspace, { ...toCommand(asked), ...timeout }, call.signal), COMMAND_HINTS);
    return { job_id: jobId };
  },
});
