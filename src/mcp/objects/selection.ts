/** Which objects of a kind are meant: by namespace, team, name and selectors. Pure. */
import { GROUP } from '#api/meta.ts';
import type { ApiResource } from '#client/discovery.ts';
import type { ResourceLocation } from '#client/resource-api.ts';
import { InvalidError } from '#lib/errors.ts';

export interface Selection {
  readonly namespace?: string;
  readonly team?: string;
  readonly name?: string;
  readonly label_selector?: string;
  readonly field_selector?: string;
}

export function locationOf(resource: ApiResource, { namespace, team, name, label_selector, field_selector }: Selection): ResourceLocation {
  const fields = [field_selector, name === undefined ? undefined : `metadata.name=${name}`, teamSelector(resource, team)];
  const fieldSelector = fields.filter((each) => each !== undefined && each !== '').join(',');
  return {
    namespace: resource.isNamespaced ? namespace : undefined,
    query: { labelSelector: label_selector, fieldSelector: fieldSelector === '' ? undefined : fieldSelector },
  };
}

const OF_TEAMS: readonly string[] = ['agents', 'tasks', 'merges', 'snapshots'];

function teamSelector({ group, plural }: ApiResource, team: string | undefined): string | undefined {
  if (team === undefined) return undefined;
  if (group === GROUP && plural === 'teams') return `metadata.name=${team}`;
  if (group === GROUP && OF_TEAMS.includes(plural)) return `spec.team=${team}`;
  const message = `${plural} belong to no team`;
  throw new InvalidError(message, [{ path: 'team', segments: ['team'], kind: 'Invalid', message }], {
    hint: 'leave team out, and use label_selector or field_selector',
  });
}
