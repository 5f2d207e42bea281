/** The objects that belong to one: what exists because of it. */
import type { ApiObject } from '#client/resource-api.ts';
import { ageOf } from '#lib/age.ts';
import { toCell } from '#lib/escape.ts';
import { isObject } from '#lib/json.ts';
import { listing } from './listing.ts';

export function ownedLines(owned: readonly ApiObject[], now: Date): string[] {
  const rows = owned.map(({ kind, metadata, status }) => {
    const phase = isObject(status) ? status['phase'] : undefined;
    return [kind, metadata.name, phase ?? '<none>', ageOf(metadata.creationTimestamp, now)].map(toCell);
  });
  return ['Owned:', ...listing(['Kind', 'Name', 'Phase', 'Age'], rows)];
}
