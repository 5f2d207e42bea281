/** `workspace_set_env`: variables for everything that starts in a workspace. */
import { described, list, map, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';
import { boundedText } from '../workspaces/fields.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const MAX_VALUE_BYTES = 32_768;

const input = object(
  {
    ...targetFields,
    env: described(
      map(boundedText({ maxBytes: MAX_VALUE_BYTES })),
      'Names are letters, digits and _. PATH, IFS, ENV, BASH_ENV and LD_* may not be set: then nothing is.',
    ),
  },
  targetOptions,
);

export const workspaceSetEnv = defineTool({
  name: 'workspace_set_env',
  title: 'Set environment variables',
  description:
    'Sets environment variables for everything that starts in the workspace of an agent from now on: commands, background jobs and tasks. ' +
    'All of them or none. They are kept in memory only and are gone when the agent stops, so set them again after a restart.',
  input,
  output: object({ names: described(list(text), 'What was set.') }),
  category: 'default',
  isReadOnly: false,
  isIdempotent: true,
  resource: agentResource,
  async run(asked, call) {
    const workspace = await findWorkspace(asked, call);
    await withHint(call.workspaces.setEnv(workspace, asked.env, call.signal), {
      Forbidden: 'leave that name out: nothing was set',
    });
    return { names: Object.keys(asked.env).sort() };
  },
});
