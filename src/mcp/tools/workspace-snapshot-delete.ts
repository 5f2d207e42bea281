/** `workspace_snapshot_delete`: a snapshot that is not needed any more. */
import { deleteSnapshot, findSnapshot } from '#client/snapshots.ts';
import { object, text } from '#protocol/shape.ts';
import { findAgent } from '../objects/find-agent.ts';
import { agentResource, ofAgent, place, snapshotField } from '../snapshots/fields.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';

const input = object({ ...ofAgent, snapshot: snapshotField }, place);

export const workspaceSnapshotDelete = defineTool({
  name: 'workspace_snapshot_delete',
  title: 'Delete a snapshot',
  description:
    'Deletes a snapshot of an agent, any of them, in any order. Agents that began as copies of it keep their files; one that has not begun yet keeps the snapshot (Conflict).',
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  input,
  output: object({ snapshot: text }),
  resource: agentResource,
  async run(asked, call) {
    const agent = await findAgent(call, asked);
    const snapshot = await withHint(findSnapshot(call.client, agent, asked.snapshot), {
      NotFound: 'workspace_snapshot_list shows what there is',
    });
    await withHint(deleteSnapshot(call.client, snapshot), { Conflict: 'wait_for the fork, or delete it first' });
    return { snapshot: snapshot.metadata.name };
  },
});
