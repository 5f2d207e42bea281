/** How many workspaces a set of documents would make: agents that are asked for and were not before. Pure. */

import { agentNamesOf } from '#api/team-budget.ts';
import type { Team } from '#api/types.ts';
import type { ApiObject } from '#client/resource-api.ts';

export interface Change {
  readonly object?: ApiObject;
  readonly live?: ApiObject;
}

export function newWorkspaces(changes: readonly Change[]): number {
  const made = new Set(changes.flatMap(({ object, live }) => namesIn(object).filter((name) => !namesIn(live).includes(name))));
  return made.size;
}

function namesIn(object: ApiObject | undefined): string[] {
  const { name = '', namespace = '' } = object?.metadata ?? {};
  if (object?.kind === 'Agent') return [`${namespace}/${name}`];
  if (object?.kind !== 'Team') return [];
  return agentNamesOf(object as unknown as Team).map((agent) => `${namespace}/${agent}`);
}
