/**
 * A change of a Task by hand. A Task that a Team lists is what the Team says: there the change is made in the list, or the Team would take
 * it back.
 */

import { shortName } from '#api/types.ts';
import { type ApiObject, getJson, resourcePath } from '#client/resource-api.ts';
import { isNotFound } from '#client/status-error.ts';
import { patchObject } from '#client/write/requests.ts';
import { isCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { Session } from '../api-command.ts';
import { OURS, teamOf } from '../named.ts';

export type SpecChange = Readonly<Record<string, string | number | boolean>>;

const FIELD_MANAGER = 'agentiso';
/** Others may change the same list at the same moment; who was faster is looked at again. */
const TRIES = 5;

export async function changeTask(session: Session, task: ApiObject, change: SpecChange): Promise<void> {
  for (let attempt = 1; attempt < TRIES; attempt++) {
    try {
      await patchWhereListed(session, task, change);
      return;
    } catch (error) {
      if (!isCode(error, 'Invalid') && !isCode(error, 'Conflict')) throw error;
    }
  }
  await patchWhereListed(session, task, change);
}

async function patchWhereListed(session: Session, task: ApiObject, change: SpecChange): Promise<void> {
  const { namespace } = session;
  const entry = await listedIn(session, task);
  const at = entry
    ? { resource: OURS.team, namespace, name: entry.team }
    : { resource: OURS.task, namespace, name: task.metadata.name ?? '' };
  const patch = entry ? ({ type: 'json', body: listPatch(entry, change) } as const) : ({ type: 'merge', body: { spec: change } } as const);
  await patchObject(session, at, { ...patch, fieldManager: FIELD_MANAGER });
}

interface Entry {
  readonly team: string;
  readonly name: string;
  readonly index: number;
}

async function listedIn({ connection, namespace, signal }: Session, task: ApiObject): Promise<Entry | undefined> {
  const owner = task.metadata.ownerReferences?.find(({ kind }) => kind === 'Team');
  if (!owner) return undefined;
  const team = await getJson(connection, resourcePath(OURS.team, { namespace, name: owner.name }), { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const spec = isObject(team?.['spec']) ? team['spec'] : {};
  const tasks = Array.isArray(spec['tasks']) ? spec['tasks'] : [];
  const name = shortName(teamOf(task), task.metadata.name ?? '');
  const index = tasks.findIndex((each) => isObject(each) && each['name'] === name);
  return index < 0 ? undefined : { team: owner.name, name, index };
}

/** Refused as a whole when the list has moved meanwhile. Pure. */
export function listPatch({ name, index }: Entry, change: SpecChange): readonly object[] {
  const sets = Object.entries(change).map(([field, value]) => ({ op: 'add', path: `/spec/tasks/${index}/${field}`, value }));
  return [{ op: 'test', path: `/spec/tasks/${index}/name`, value: name }, ...sets];
}
