/** The tools of operators for what teams do: messages, tasks, workflows, plans, merges, notes, rescued work. */
import type { Tool } from './tool.ts';
import { approveMerge } from './tools/approve-merge.ts';
import { approvePlan } from './tools/approve-plan.ts';
import { assignTask } from './tools/assign-task.ts';
import { broadcast } from './tools/broadcast.ts';
import { cancelTask } from './tools/cancel-task.ts';
import { createWorkflow } from './tools/create-workflow.ts';
import { getTaskResult } from './tools/get-task-result.ts';
import { rescueList } from './tools/rescue-list.ts';
import { rescueRestore } from './tools/rescue-restore.ts';
import { retryTask } from './tools/retry-task.ts';
import { teamMessage } from './tools/team-message.ts';
import { teamReceive } from './tools/team-receive.ts';
import { vaultDelete } from './tools/vault-delete.ts';
import { vaultList } from './tools/vault-list.ts';
import { vaultRead } from './tools/vault-read.ts';
import { vaultSearch } from './tools/vault-search.ts';
import { vaultWrite } from './tools/vault-write.ts';
import { workflowStatus } from './tools/workflow-status.ts';
import { workspaceMerge } from './tools/workspace-merge.ts';

export const workTools: readonly Tool[] = [
  teamMessage,
  broadcast,
  teamReceive,
  assignTask,
  getTaskResult,
  cancelTask,
  retryTask,
  createWorkflow,
  workflowStatus,
  approvePlan,
  workspaceMerge,
  approveMerge,
  vaultRead,
  vaultWrite,
  vaultSearch,
  vaultList,
  vaultDelete,
  rescueList,
  rescueRestore,
];
