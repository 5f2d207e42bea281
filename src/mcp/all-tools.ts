/** Every tool of an operator, in the order in which clients list them. */
import { objectTools } from './object-tools.ts';
import { snapshotTools } from './snapshot-tools.ts';
import type { Tool } from './tool.ts';
import { workTools } from './work-tools.ts';
import { workspaceTools } from './workspace-tools.ts';

export const allTools: readonly Tool[] = [...objectTools, ...workTools, ...workspaceTools, ...snapshotTools];
