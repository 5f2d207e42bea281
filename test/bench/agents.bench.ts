/** `npm run bench -- agents`: what an agent costs to start, to keep and to connect, against bubblewrap, overlayfs, git and node alone. */
import { execWhileStarting } from './agents/exec-while-starting.ts';
import { idle } from './agents/idle.ts';
import { message } from './agents/message.ts';
import { nftOperations } from './agents/nft.ts';
import { startOperations } from './agents/start.ts';
import { startLinked } from './agents/start-linked.ts';
import { startMany } from './agents/start-many.ts';
import { workspace } from './agents/workspace.ts';
import type { Bench } from './harness/operation.ts';

export const agentsBench: Bench = {
  name: 'agents',
  operations: [...startOperations, startLinked, startMany, workspace, ...nftOperations, message, execWhileStarting, idle],
};
