/** `agentiso://teams/{team}/agents/{agent}` */
import { memberResource } from './member.ts';

export const agentResource = memberResource(
  'Agent',
  'One Agent with its status: phase, workspace, address, restarts, and conditions that say what it still lacks. The name is the short one, such as coder-1.',
);
