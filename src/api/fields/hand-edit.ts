/** Edits by hand count as updates by a manager of their own: whoever applies the same field differently is told. */
import { systemClock, toSeconds } from '#lib/clock.ts';
import { kindNamed } from '../kinds.ts';
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import { trackUpdate } from './track.ts';

export const HAND_EDIT_MANAGER = 'agentiso-dir';

export function trackHandEdit(live: KindObject | undefined, next: KindObject): ManagedFieldsEntry[] | undefined {
  const kind = kindNamed(next.kind);
  if (!kind) return next.metadata.managedFields;
  const writer = { manager: HAND_EDIT_MANAGER, now: toSeconds(systemClock.now()), apiVersion: kind.apiVersion };
  return trackUpdate(kind.schema, live, next, writer);
}
