/** Objects that nobody has acted on, or not yet on what they say now. Pure. */
import type { KindObject } from '#api/meta.ts';
import { type Finding, type Sight, stuck, waiting } from './finding.ts';
import { isBlank, isUpToDate, since, wordsOf } from './words.ts';

/** Longer than this, and it is no matter of time. */
export const PATIENCE_MS = 30_000;

export function isPatient(time: string | null | undefined, now: Date): boolean {
  return !time || now.getTime() - Date.parse(time) < PATIENCE_MS;
}

const NO_CONTROLLER = {
  text: 'nothing acts on it here; a daemon does. Is one running on this server?',
  command: 'agentiso serve',
} as const;

/** Undefined for what was looked at since it was last changed. */
export function lookAtUnseen(object: KindObject, { view, now }: Sight): Finding | undefined {
  const { creationTimestamp } = object.metadata;
  const isNew = isBlank(object);
  if (!isNew && isUpToDate(object)) return undefined;
  if (!isNew) return waiting('was changed', 'nobody has looked at the change yet', { text: 'a moment; a daemon looks at once' });
  const warning = view.lastWarning(object);
  const because = warning ? `nobody has looked at it yet; last warning: ${wordsOf(warning)}` : 'nobody has looked at it yet';
  if (isPatient(creationTimestamp, now)) return waiting('is new', because);
  return stuck(`has been there ${since(creationTimestamp, now)}`, because, NO_CONTROLLER);
}
