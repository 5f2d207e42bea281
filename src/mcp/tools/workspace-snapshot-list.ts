/** `workspace_snapshot_list`: what is kept of the files of agents. */
import type { Snapshot } from '#api/types.ts';
import { described, list, object } from '#protocol/shape.ts';
import { label, teamField } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { place, snapshotAnswer, toSnapshotAnswer } from '../snapshots/fields.ts';
import { defineTool } from '../tool.ts';
import { namespaceOf } from '../work/fields.ts';

const input = object(
  { team: teamField },
  { agent: described(label, 'Short or full name of the agent; all of the team when absent.'), ...place },
);

export const workspaceSnapshotList = defineTool({
  name: 'workspace_snapshot_list',
  title: 'Snapshots of agents',
  description: 'Lists the snapshots of one agent, or of all agents of a team, oldest first.',
  category: 'default',
  isReadOnly: true,
  input,
  output: object({ snapshots: list(snapshotAnswer) }),
  resource: ({ team }) => `team/${team}`,
  async run({ agent, ...asked }, call) {
    const only = agent === undefined ? undefined : (await findAgent(call, { ...asked, agent })).metadata.name;
    const fieldSelector = only === undefined ? `spec.team=${asked.team}` : `spec.agent=${only}`;
    const { items } = await call.client.list<Snapshot>('Snapshot', { namespace: namespaceOf(asked), fieldSelector });
    const byAge = [...items].sort((a, b) => ((a.status?.takenAt ?? '~') < (b.status?.takenAt ?? '~') ? -1 : 1));
    return { snapshots: byAge.map(toSnapshotAnswer) };
  },
});
