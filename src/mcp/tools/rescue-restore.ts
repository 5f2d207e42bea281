/** `rescue_restore`: rescued work as a branch in the workspace of a running agent. */
import { getRescued } from '#client/rescue.ts';
import { described, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { restoreInWorkspace } from '../work/restore-in-workspace.ts';
import { withHint } from '../work/with-hint.ts';
import { agentResource, findWorkspace, targetFields, targetOptions } from '../workspaces/target.ts';

const input = object(
  {
    id: described(text, 'From rescue_list, or the beginning of it.'),
    ...targetFields,
  },
  targetOptions,
);
const output = object({ agent: text, branch: text, commit: text });

export const rescueRestore = defineTool({
  name: 'rescue_restore',
  title: 'Bring rescued work back',
  description:
    'Brings rescued work into the repository in the workspace of a running agent, as the branch rescue/AGENT; nothing is checked out or merged there. Then assign_task or workspace_exec can use it (git log rescue/AGENT, git merge rescue/AGENT). It stays kept: rescue_list still shows it.',
  category: 'default',
  isReadOnly: false,
  input,
  output,
  resource: agentResource,
  async run(asked, call) {
    const work = await withHint(getRescued(call, asked.id), {
      NotFound: 'rescue_list shows what is kept',
      Invalid: 'rescue_list shows the whole identifiers',
    });
    const workspace = await findWorkspace(asked, call);
    return { agent: workspace.agent, ...(await restoreInWorkspace(call, workspace, work)) };
  },
});
