/**
 * From client-side to server-side apply, for kubectl's own manager only: what the last client-side apply set may change without
 * a conflict, and its annotation is kept up to date for the way back.
 */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject } from '../meta.ts';
import { typedProblems } from './check-typed.ts';
import { compare } from './compare.ts';
import { FieldConflictError } from './conflict.ts';
import { difference, type FieldSet, has, union } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { goJson } from './go-text.ts';
import { treeOf, withoutManagedFields } from './server-fields.ts';
import { setOfValue } from './set-of-value.ts';

const KUBECTL = 'kubectl';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATION_BYTES = 256 * 1024;

interface Upgrade {
  readonly type: FieldType;
  readonly manager: string;
  readonly live: KindObject | undefined;
}

/** Tries; if all conflicts come from the last client-side apply, tries again with force. */
export function applyWithUpgrade<T>({ type, manager, live }: Upgrade, attempt: (isForced: boolean) => T): T {
  try {
    return attempt(false);
  } catch (error) {
    if (!(error instanceof FieldConflictError) || manager !== KUBECTL || live === undefined) throw error;
    const allowed = setByClient(type, live);
    if (allowed === undefined) throw error;
    const rest = error.conflicts.filter(({ path }) => !has(allowed, path));
    if (rest.length > 0) throw new FieldConflictError(rest);
    return attempt(true);
  }
}

/** What the last client-side apply set and nobody has changed since. */
function setByClient(type: FieldType, live: KindObject): FieldSet | undefined {
  const last = readLastApplied(live);
  const tree = withoutManagedFields(treeOf(live));
  if (last === undefined || last['apiVersion'] !== live.apiVersion || last['kind'] !== live.kind) return undefined;
  if ([last, tree].some((value) => typedProblems(type, value, { allowsDuplicates: false }).length > 0)) return undefined;
  const { modified, added, removed } = compare(type, last, tree);
  return difference(setOfValue(type, last), union(union(modified, added), removed));
}

function readLastApplied(live: KindObject): JsonObject | undefined {
  const text: unknown = live.metadata.annotations?.[LAST_APPLIED];
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const last: unknown = JSON.parse(text);
    return isObject(last) ? last : undefined;
  } catch {
    return undefined;
  }
}

/** The result of an apply with the annotation, if it has one, set to what was applied; without it if it grew too large. */
export function syncLastApplied(result: KindObject, config: KindObject, manager: string): KindObject {
  const { annotations } = result.metadata;
  if (manager !== KUBECTL || !isObject(annotations) || !annotations[LAST_APPLIED]) return result;
  const synced = { ...textsOf(annotations), [LAST_APPLIED]: `${goJson(withoutLastApplied(treeOf(config)))}\n` };
  const bytes = Object.entries(synced).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  const { [LAST_APPLIED]: _, ...others } = synced;
  return { ...result, metadata: { ...result.metadata, annotations: bytes > MAX_ANNOTATION_BYTES ? others : synced } };
}

function withoutLastApplied(config: JsonObject): JsonObject {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  const { annotations, ...rest } = metadata;
  if (!isObject(annotations)) return { ...config, metadata: rest };
  const { [LAST_APPLIED]: _, ...others } = textsOf(annotations);
  return { ...config, metadata: { ...rest, annotations: others } };
}

/** Annotations are texts: a null among them, which the schema lets pass, is an empty one. */
function textsOf(annotations: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, typeof value === 'string' ? value : '']));
}
