/** `workspace_exec`: one command in one workspace. */
import { described, integer, object } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { commandFields, MAX_TIMEOUT_SECONDS, timeoutSeconds, toCommand, withCommand } from '../workspaces/command.ts';
import { reportRun } from '../workspaces/progress.ts';
import { MAX_OUTPUT_BYTES, runDeadlineMs, runFields, toRunAnswer } from '../workspaces/run.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const TIMEOUT_SECONDS = 120;
const OUTPUT_BYTES = 262_144;

const input = withCommand(
  object(targetFields, {
    ...targetOptions,
    ...commandFields,
    timeout_seconds: described(timeoutSeconds, `After this time it is ended. Default ${TIMEOUT_SECONDS}, at most ${MAX_TIMEOUT_SECONDS}.`),
    max_output_bytes: described(integer({ min: 1, max: MAX_OUTPUT_BYTES }), `Of stdout and of stderr each. Default ${OUTPUT_BYTES}.`),
  }),
);

export const workspaceExec = defineTool({
  name: 'workspace_exec',
  title: 'Run a command',
  description:
    'Runs a command in the workspace of an agent, waits for its end, and gives exit code, stdout and stderr. A command that fails is an ' +
    'answer, not an error. It has no stdin; whatever it leaves in the background ends with it. For what takes minutes use ' +
    'workspace_exec_start; for one command in many workspaces workspace_exec_parallel; for work that the team should keep track of assign_task.',
  input,
  output: object(runFields),
  category: 'exec',
  isReadOnly: false,
  isDestructive: true,
  quotesOthers: true,
  deadlineMs: ({ timeout_seconds = TIMEOUT_SECONDS }) => runDeadlineMs(timeout_seconds),
  resource: agentResource,
  async run(asked, call) {
    const { timeout_seconds = TIMEOUT_SECONDS, max_output_bytes: maxOutputBytes = OUTPUT_BYTES } = asked;
    const workspace = await findWorkspace(asked, call);
    const { onOutput, stop } = reportRun(call.progress);
    try {
      const options = { timeoutMs: timeout_seconds * 1000, maxOutputBytes, onOutput, signal: call.signal };
      return toRunAnswer(await call.workspaces.exec(workspace, toCommand(asked), options));
    } finally {
      stop();
    }
  },
});
