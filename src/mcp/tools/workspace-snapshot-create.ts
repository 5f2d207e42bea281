/** `workspace_snapshot_create`: keeps the files of an agent as they are now. */
import { takeSnapshot } from '#client/snapshots.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { described, object } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { agentResource, MARGIN_MS, ofAgent, place, snapshotAnswer, toSnapshotAnswer, WAIT_MS } from '../snapshots/fields.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';

const input = object({ ...ofAgent, name: described(label, 'What it is called; the object is <agent>-<name>.') }, place);

export const workspaceSnapshotCreate = defineTool({
  name: 'workspace_snapshot_create',
  title: 'Keep the files of an agent',
  description:
    'Keeps all files of the workspace and the home of an agent as they are now, whole or not at all; what runs stands still for that moment. At most 20 per agent. workspace_snapshot_restore takes the agent back to it, workspace_fork makes agents that begin with it. Processes and messages are not part of it.',
  category: 'default',
  isReadOnly: false,
  input,
  output: snapshotAnswer,
  deadlineMs: WAIT_MS + MARGIN_MS,
  resource: agentResource,
  async run(asked, call) {
    const agent = await findAgent(call, asked);
    const signal = AbortSignal.any([call.signal, timeLimit(WAIT_MS)]);
    const hints = {
      Invalid: 'workspace_snapshot_list shows what there is, workspace_snapshot_delete makes room',
      AlreadyExists: 'give another name, or delete the other one first',
      Conflict: 'suspend or stop the agent, then try again',
    };
    return toSnapshotAnswer(await withHint(takeSnapshot(call.client, agent, asked.name, signal), hints));
  },
});
