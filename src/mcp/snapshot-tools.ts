/** Tools for the files of agents as they were: snapshots, restores, forks. */
import type { Tool } from './tool.ts';
import { workspaceFork } from './tools/workspace-fork.ts';
import { workspaceSnapshotCreate } from './tools/workspace-snapshot-create.ts';
import { workspaceSnapshotDelete } from './tools/workspace-snapshot-delete.ts';
import { workspaceSnapshotList } from './tools/workspace-snapshot-list.ts';
import { workspaceSnapshotRestore } from './tools/workspace-snapshot-restore.ts';

export const snapshotTools: readonly Tool[] = [
  workspaceSnapshotCreate,
  workspaceSnapshotList,
  workspaceSnapshotRestore,
  workspaceSnapshotDelete,
  workspaceFork,
];
