/**
 * What a team says of its agents and tasks and may stop to say: then they do not have it any more. What has a default is always said. Who is to do a
 * task is not here: people and tools give tasks to others.
 */
import type { Agent, Task } from '#api/types.ts';

export const OF_ROLE: readonly (keyof Agent['spec'])[] = [
  'role',
  'description',
  'skills',
  'fallback',
  'model',
  'permissions',
  'provider',
  'budget',
  'envFrom',
  'portForwards',
  'inputSchema',
  'outputSchema',
];

export const OF_LIST: readonly (keyof Task['spec'])[] = [
  'title',
  'description',
  'acceptanceCriteria',
  'skills',
  'dependsOn',
  'command',
  'prompt',
  'promptMode',
  'verify',
  'env',
  'timeoutSeconds',
  'budget',
  'files',
  'tags',
  'ttlSecondsAfterFinished',
];
