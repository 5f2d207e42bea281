/** Every prompt that a person can pick. */
import type { Prompt } from './prompt.ts';
import { createTeamForRepository } from './prompts/create-team-for-repository.ts';
import { explainWaiting } from './prompts/explain-waiting.ts';
import { planSprint } from './prompts/plan-sprint.ts';
import { reviewAndMerge } from './prompts/review-and-merge.ts';

export const allPrompts: readonly Prompt[] = [createTeamForRepository, planSprint, reviewAndMerge, explainWaiting];
