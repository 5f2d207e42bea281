/**
 * A change of a Task by hand. A Task that a Team lists is what the Team says: there the change is made in the list, or the Team would take
 * it back.
 */
import { shortName } from '#api/types.ts';
import { isCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { Asking } from './messages.ts';
import { getJson, type ResourceName, resourcePath } from './resource-api.ts';
import { isNotFound } from './status-error.ts';
import { patchObject } from './write/requests.ts';

export type SpecChange = Readonly<Record<string, string | number | boolean>>;

/** A Task as any of the clients gives it. */
export interface ChangedTask {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
  readonly spec?: unknown;
}

/** Who is told of warnings of the server; nobody when absent. */
interface Changing extends Asking {
  readonly err?: (text: string) => void;
}

const FIELD_MANAGER = 'agentiso';
/** Others may change the same list at the same moment; who was faster is looked at again. */
const TRIES = 5;
const ours = (plural: string): ResourceName => ({ group: 'agentiso.dev', version: 'v1alpha1', plural, isNamespaced: true });
const TEAMS = ours('teams');
const TASKS = ours('tasks');

export async function changeTask(asking: Changing, task: ChangedTask, change: SpecChange): Promise<void> {
  for (let attempt = 1; attempt < TRIES; attempt++) {
    try {
      await patchWhereListed(asking, task, change);
      return;
    } catch (error) {
      if (!isCode(error, 'Invalid') && !isCode(error, 'Conflict')) throw error;
    }
  }
  await patchWhereListed(asking, task, change);
}

async function patchWhereListed(asking: Changing, task: ChangedTask, change: SpecChange): Promise<void> {
  const { name = '', namespace } = task.metadata;
  const entry = await listedIn(asking, task);
  const at = entry ? { resource: TEAMS, namespace, name: entry.team } : { resource: TASKS, namespace, name };
  const patch = entry ? ({ type: 'json', body: listPatch(entry, change) } as const) : ({ type: 'merge', body: { spec: change } } as const);
  await patchObject({ err: () => {}, ...asking }, at, { ...patch, fieldManager: FIELD_MANAGER });
}

export interface ListEntry {
  readonly team: string;
  readonly name: string;
  readonly index: number;
}

async function listedIn({ connection, signal }: Asking, { metadata, spec }: ChangedTask): Promise<ListEntry | undefined> {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Team');
  if (!owner) return undefined;
  const path = resourcePath(TEAMS, { namespace: metadata.namespace, name: owner.name });
  const team = await getJson(connection, path, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const listed = isObject(team?.['spec']) ? team['spec']['tasks'] : undefined;
  const name = shortName(isObject(spec) ? String(spec['team']) : '', metadata.name ?? '');
  const index = Array.isArray(listed) ? listed.findIndex((each) => isObject(each) && each['name'] === name) : -1;
  return index < 0 ? undefined : { team: owner.name, name, index };
}

/** Refused as a whole when the list has moved meanwhile. Pure. */
export function listPatch({ name, index }: ListEntry, change: SpecChange): readonly object[] {
  const sets = Object.entries(change).map(([field, value]) => ({ op: 'add', path: `/spec/tasks/${index}/${field}`, value }));
  return [{ op: 'test', path: `/spec/tasks/${index}/name`, value: name }, ...sets];
}
