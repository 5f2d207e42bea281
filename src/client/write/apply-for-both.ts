/**
 * Server-side apply of a file that is, or is going to be, applied by kubectl's other way as well: what the file said before has to be
 * known to both, or what it stops to say would stay.
 */
import type { Draft, KindObject, ManagedFieldsEntry } from '#api/meta.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Client } from '../client.ts';
import { FIELD_MANAGERS } from './field-managers.ts';
import { hasLastApplied, LAST_APPLIED, noteOf } from './last-applied.ts';
import { handedOver } from './owners.ts';

/** More annotations than this no object may have; one without the note can still be applied. */
const MAX_NOTE_BYTES = 200 * 1024;
const FIELD_MANAGER = FIELD_MANAGERS.serverSideApply;

export async function applyForBoth(client: Client, config: Draft): Promise<KindObject> {
  const apply = () => client.apply<KindObject>(config, { fieldManager: FIELD_MANAGER, force: true });
  const applied = await apply();
  if (handedOver(applied.metadata.managedFields, FIELD_MANAGER) === undefined) {
    if (!hasLastApplied(json(applied))) await note(client, applied, noteOf(json(config)));
    return applied;
  }
  const noted = await note(client, applied, applied.metadata.annotations?.[LAST_APPLIED] ?? noteOf(json(config)));
  const managedFields = handedOver(noted.metadata.managedFields, FIELD_MANAGER) as ManagedFieldsEntry[] | undefined;
  if (managedFields !== undefined) await client.update<KindObject>({ ...noted, metadata: { ...noted.metadata, managedFields } });
  return apply();
}

/** It has an owner of its own, or the next apply would remove it. Once there, the server keeps it up to date with every apply. */
async function note(client: Client, { apiVersion, kind, metadata, ...rest }: KindObject, text: string): Promise<KindObject> {
  if (Buffer.byteLength(text) > MAX_NOTE_BYTES) return { apiVersion, kind, metadata, ...rest };
  const { name, namespace } = metadata;
  const draft = { apiVersion, kind, metadata: { name, namespace, annotations: { [LAST_APPLIED]: text } } };
  return client.apply<KindObject>(draft as Draft, { fieldManager: FIELD_MANAGERS.lastApplied, force: true });
}

function json(object: KindObject | Draft): JsonObject {
  return object as unknown as JsonObject;
}
