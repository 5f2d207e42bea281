/** The kinds as TypeScript sees them. */
import type { AgentSpec, AgentStatus } from './generated/agent.ts';
import type { MergeSpec, MergeStatus } from './generated/merge.ts';
import type { SnapshotSpec, SnapshotStatus } from './generated/snapshot.ts';
import type { TaskSpec, TaskStatus } from './generated/task.ts';
import type { TeamSpec, TeamStatus } from './generated/team.ts';
import type { KindObject } from './meta.ts';

export interface Team extends KindObject<TeamSpec, TeamStatus> {
  kind: 'Team';
  spec: TeamSpec;
}

export interface Agent extends KindObject<AgentSpec, AgentStatus> {
  kind: 'Agent';
  spec: AgentSpec;
}

export interface Task extends KindObject<TaskSpec, TaskStatus> {
  kind: 'Task';
  spec: TaskSpec;
}

export interface Merge extends KindObject<MergeSpec, MergeStatus> {
  kind: 'Merge';
  spec: MergeSpec;
}

export interface Snapshot extends KindObject<SnapshotSpec, SnapshotStatus> {
  kind: 'Snapshot';
  spec: SnapshotSpec;
}

/** How an object of a team is called inside it: without the `<team>-` in front. */
export function shortName(team: string, name: string): string {
  return name.startsWith(`${team}-`) ? name.slice(team.length + 1) : name;
}
