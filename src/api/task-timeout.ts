/** How long one attempt of a Task may take, where its spec does not say. Pure, and the only place that says so: the default of a schema cannot depend on another field. */
import type { Task } from './types.ts';

const COMMAND_SECONDS = 300;
/** A coding agent thinks, tries and tries again. */
const PROMPT_SECONDS = 1_800;

export function timeoutSecondsOf({ timeoutSeconds, prompt }: Pick<Task['spec'], 'timeoutSeconds' | 'prompt'>): number {
  return timeoutSeconds ?? (typeof prompt === 'string' ? PROMPT_SECONDS : COMMAND_SECONDS);
}
