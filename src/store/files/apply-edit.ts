/** A person's document into the store: created, or merged over what happened to the object since the file was written. */
import type { Draft, KindObject, ObjectKey } from '#api/meta.ts';
import { InvalidError, isCode } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Store, WriteOptions } from '../store.ts';
import { mergeEdit } from './merge.ts';
import { asDraft, editablePart, fileView, withEditablePart } from './view.ts';

export interface AppliedEdit {
  readonly before: KindObject | undefined;
  readonly after: KindObject;
}

const CONFLICT_TRIES = 20;

/** What the person started from. */
export interface EditBase {
  readonly object: KindObject;
  /** The file has shown newer versions since: what they did not touch stays as it is now, what they did touch is theirs. */
  readonly isOutdated: boolean;
}

export interface EditOptions {
  readonly base: EditBase | undefined;
  readonly track: WriteOptions['track'];
}

/** Without a base the file says all there is to say. */
export async function applyEdit(store: Store, key: ObjectKey, value: JsonObject, { base, track }: EditOptions): Promise<AppliedEdit> {
  const options: WriteOptions = track ? { track } : {};
  for (let attempt = 1; ; attempt++) {
    const before = store.get(key);
    try {
      const after = before
        ? await store.update(merged(before, value, base ?? { object: before, isOutdated: false }), options)
        : await store.create(asDraft(value, key.namespace, key.name) as Draft, options);
      return { before, after };
    } catch (error) {
      const raced = isCode(error, 'Conflict') || isCode(error, 'AlreadyExists') || isCode(error, 'NotFound');
      if (!raced || attempt === CONFLICT_TRIES) throw error;
    }
  }
}

function merged(current: KindObject, value: JsonObject, { object, isOutdated }: EditBase): KindObject {
  const { uid } = value['metadata'] as { uid?: unknown };
  if (uid !== undefined && uid !== current.metadata.uid) {
    const message = `metadata.uid cannot change; it is ${current.metadata.uid}`;
    throw new InvalidError(message, [{ path: 'metadata.uid', segments: ['metadata', 'uid'], kind: 'Forbidden', message }]);
  }
  const base = editablePart(fileView(object));
  // In a conflict the merge keeps its last side.
  if (isOutdated) return withEditablePart(current, mergeEdit(base, editablePart(current), editablePart(value)).value as JsonObject);
  const { value: result, conflicts } = mergeEdit(base, editablePart(value), editablePart(current));
  if (conflicts.length === 0) return withEditablePart(current, result as JsonObject);
  const message = 'changed in the file and, meanwhile, by somebody else; make the edit again on the new text';
  const fields = conflicts.map((path) => ({ path, segments: path.split('.'), kind: 'Invalid' as const, message }));
  throw new InvalidError(`${conflicts.join(', ')}: ${message}`, fields, { reason: 'EditConflict' });
}
