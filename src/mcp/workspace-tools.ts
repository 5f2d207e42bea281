/** Tools that reach into workspaces. For admins only, as exec is in the API. */
import type { Tool } from './tool.ts';
import { workspaceExec } from './tools/workspace-exec.ts';
import { workspaceExecKill } from './tools/workspace-exec-kill.ts';
import { workspaceExecParallel } from './tools/workspace-exec-parallel.ts';
import { workspaceExecPoll } from './tools/workspace-exec-poll.ts';
import { workspaceExecStart } from './tools/workspace-exec-start.ts';
import { workspaceFileEdit } from './tools/workspace-file-edit.ts';
import { workspaceFileList } from './tools/workspace-file-list.ts';
import { workspaceFileRead } from './tools/workspace-file-read.ts';
import { workspaceFileWrite } from './tools/workspace-file-write.ts';
import { workspaceLogs } from './tools/workspace-logs.ts';
import { workspaceSetEnv } from './tools/workspace-set-env.ts';

export const workspaceTools: readonly Tool[] = [
  workspaceExec,
  workspaceExecStart,
  workspaceExecPoll,
  workspaceExecKill,
  workspaceExecParallel,
  workspaceSetEnv,
  workspaceLogs,
  workspaceFileRead,
  workspaceFileWrite,
  workspaceFileEdit,
  workspaceFileList,
];
