/** Tools about objects: teams and agents, and every kind by name. */
import type { Tool } from './tool.ts';
import { apply } from './tools/apply.ts';
import { deleteTool } from './tools/delete.ts';
import { diff } from './tools/diff.ts';
import { explain } from './tools/explain.ts';
import { get } from './tools/get.ts';
import { getAgentStatus } from './tools/get-agent-status.ts';
import { killAgent } from './tools/kill-agent.ts';
import { list } from './tools/list.ts';
import { shutdownAgent } from './tools/shutdown-agent.ts';
import { teamCreate } from './tools/team-create.ts';
import { teamDestroy } from './tools/team-destroy.ts';
import { teamList } from './tools/team-list.ts';
import { teamStatus } from './tools/team-status.ts';
import { waitFor } from './tools/wait-for.ts';
import { watch } from './tools/watch.ts';
import { why } from './tools/why.ts';

export const objectTools: readonly Tool[] = [
  teamCreate,
  teamStatus,
  teamList,
  teamDestroy,
  getAgentStatus,
  shutdownAgent,
  killAgent,
  apply,
  diff,
  get,
  list,
  watch,
  waitFor,
  why,
  explain,
  deleteTool,
];
