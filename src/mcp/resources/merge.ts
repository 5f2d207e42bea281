/** `agentiso://teams/{team}/merges/{merge}` */
import { memberResource } from './member.ts';

export const mergeResource = memberResource(
  'Merge',
  'One Merge with its status: what became of each source, conflicts with files and lines, what verify said, and the commit the target has now.',
);
