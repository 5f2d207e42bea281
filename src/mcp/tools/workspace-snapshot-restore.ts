/** `workspace_snapshot_restore`: takes an agent back to what it was. */
import { findSnapshot, requestRestore, untilRestored } from '#client/snapshots.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { described, object, text } from '#protocol/shape.ts';
import { findAgent } from '../objects/find-agent.ts';
import { agentResource, MARGIN_MS, ofAgent, place, snapshotField, WAIT_MS } from '../snapshots/fields.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';

const input = object({ ...ofAgent, snapshot: snapshotField }, place);

export const workspaceSnapshotRestore = defineTool({
  name: 'workspace_snapshot_restore',
  title: 'Take an agent back to a snapshot',
  description:
    'Ends an agent, puts its files back as they were at a snapshot, and starts it as a new incarnation. What it has written since is gone, but for what its team has of it in git. Newer snapshots stay. An agent that works on a task is not taken back: wait for it or cancel_task first.',
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  input,
  output: object({ agent: text, snapshot: text, incarnation: described(text, 'Of the run that began with it.') }),
  deadlineMs: WAIT_MS + MARGIN_MS,
  resource: agentResource,
  async run(asked, call) {
    const agent = await findAgent(call, asked);
    const snapshot = await withHint(findSnapshot(call.client, agent, asked.snapshot), {
      NotFound: 'workspace_snapshot_list shows what there is',
    });
    const written = await withHint(requestRestore({ connection: call.connection, err: call.progress }, agent, snapshot, new Date()), {
      Conflict: 'wait_for the task, or cancel_task, then try again',
    });
    const signal = AbortSignal.any([call.signal, timeLimit(WAIT_MS)]);
    const { metadata, status } = await withHint(untilRestored(call.client, written, signal), {
      Timeout: 'why with kind Agent says what it waits for',
    });
    return { agent: metadata.name, snapshot: snapshot.metadata.name, incarnation: status?.incarnation ?? '' };
  },
});
