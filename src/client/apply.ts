/** Makes the stored object say what a manifest says, and leaves alone what the manifest does not mention. */
import { type Draft, type KindObject, keyOf } from '#api/meta.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import type { Client } from './client.ts';

export type Applied = 'created' | 'configured' | 'unchanged';

const TRIES = 10;

export async function applyObject(client: Client, manifest: KindObject): Promise<Applied> {
  const { status: _ignored, ...wanted } = manifest;
  for (let attempt = 1; ; attempt++) {
    try {
      const current = await ignoreNotFound(client.get<KindObject>(keyOf(manifest)));
      if (!current) {
        await client.create(wanted as Draft);
        return 'created';
      }
      const { labels, annotations } = wanted.metadata;
      const metadata = {
        ...current.metadata,
        labels: { ...current.metadata.labels, ...labels },
        annotations: { ...current.metadata.annotations, ...annotations },
      };
      const next = { ...current, ...wanted, metadata: withoutEmpty(metadata), spec: overlay(current.spec, wanted.spec) };
      const stored = await client.update(next as unknown as KindObject);
      return stored.metadata.resourceVersion === current.metadata.resourceVersion ? 'unchanged' : 'configured';
    } catch (error) {
      // Somebody else wrote, created or deleted it between our read and our write.
      const raced = isCode(error, 'Conflict') || isCode(error, 'AlreadyExists') || isCode(error, 'NotFound');
      if (!raced || attempt === TRIES) throw error;
    }
  }
}

/** Maps merge, everything else is replaced. */
function overlay(base: unknown, change: unknown): unknown {
  if (change === undefined) return base;
  if (!isObject(base) || !isObject(change)) return change;
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(change)) merged[key] = overlay(base[key], value);
  return merged;
}

function withoutEmpty(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0));
}
