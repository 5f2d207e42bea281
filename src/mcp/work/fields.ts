/** What many tools are told, in the same words. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import { described, flag, integer } from '#protocol/shape.ts';
import { label, namespaceField, teamField } from '../objects/fields.ts';

export const MAX_PROMPT_BYTES = 100 * 1024;
const MAX_WAIT_SECONDS = 1_800;
const USUAL_WAIT_SECONDS = 300;
/** For what comes before and after a wait. */
const MARGIN_MS = 30_000;

export const team = teamField;
export const namespace = namespaceField;
export const taskId = described(
  label,
  'The task: its full name as assign_task gave it (sprint-task-001), or its short name together with team.',
);
export const teamOfTask = described(label, 'Team of the task; needed for a short name only.');

export const wait = described(flag, 'Wait for the end before answering. Default false.');
export const waitSeconds = described(
  integer({ min: 1, max: MAX_WAIT_SECONDS }),
  `With wait: how long at most, in seconds. After that the answer says timed_out, and the work goes on. Default ${USUAL_WAIT_SECONDS}.`,
);

export interface Waiting {
  readonly wait?: boolean;
  readonly timeout_seconds?: number;
}

export function waitMs({ timeout_seconds = USUAL_WAIT_SECONDS }: Waiting): number {
  return timeout_seconds * 1_000;
}

/** Of a call that may wait: longer than the wait itself, so that it is the wait that ends. */
export function deadlineMs(input: Waiting): number {
  return (input.wait ? waitMs(input) : 0) + MARGIN_MS;
}

export function namespaceOf({ namespace: asked }: { readonly namespace?: string }): string {
  return asked === undefined || asked === '' ? DEFAULT_NAMESPACE : asked;
}
