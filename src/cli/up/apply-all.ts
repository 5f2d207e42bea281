/** The manifests of `up`, sent one by one: namespaces first, then everything in the order it was written. */
import { kindNamed } from '#api/kinds.ts';
import { DEFAULT_NAMESPACE, type Draft, type KindObject, keyOf } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { type Applied, applyObject } from '#client/apply.ts';
import type { Client } from '#client/client.ts';
import { applyForBoth } from '#client/write/apply-for-both.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import { boardKey, isFinished } from '../follow-board.ts';

export interface ApplyAllOptions {
  readonly client: Client;
  readonly objects: readonly KindObject[];
  /** Had ended before, by board key. */
  readonly finished: ReadonlyMap<string, Task>;
  readonly err: (text: string) => void;
}

export async function applyAll({ client, objects, finished, err }: ApplyAllOptions): Promise<void> {
  await ensureNamespaces(client, objects);
  for (const object of objects) {
    const outcome = await applyOne(client, object);
    const id = `${object.kind.toLowerCase()}/${object.metadata.name}`;
    err(`${id} ${outcome}\n`);
    if (outcome === 'configured' && finished.has(boardKey(object))) {
      err(`${id} has ended before and does not run again; to run it anew: agentiso delete ${id}, then this\n`);
    }
  }
}

/** What has already ended, so that nobody takes it for news. */
export async function finishedTasks(client: Client): Promise<ReadonlyMap<string, Task>> {
  const { items } = await client.list<Task>('Task');
  return new Map(items.filter(isFinished).map((task) => [boardKey(task), task]));
}

async function applyOne(client: Client, object: KindObject): Promise<Applied> {
  // Only our own kinds have a record of who set which field.
  if (!kindNamed(object.kind)?.crd) return applyObject(client, object);
  const before = await ignoreNotFound(client.get<KindObject>(keyOf(object)));
  const { status: _ignored, ...config } = object;
  // The same name as kubectl's, so that the two can be used on one object.
  const after = await applyForBoth(client, config as Draft);
  if (before?.metadata.uid !== after.metadata.uid) return 'created';
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'configured';
}

/** A server wants a namespace before what is in it; a person who writes `namespace: prod` has said enough. */
async function ensureNamespaces(client: Client, objects: readonly KindObject[]): Promise<void> {
  const named = new Set(objects.map(({ metadata }) => metadata.namespace));
  for (const name of named) {
    if (name === '' || name === DEFAULT_NAMESPACE) continue;
    try {
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, namespace: '' } });
    } catch (error) {
      if (!isCode(error, 'AlreadyExists')) throw error;
    }
  }
}
