/** Who owns what after a write that is not an apply: create, replace, patch, and edits by hand. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { mergeAncient } from './ancient-changes.ts';
import { type Comparison, compare } from './compare.ts';
import { type FieldSet, isCovered, isDisjoint, isEmpty, union } from './field-set.ts';
import { type FieldType, typeOf } from './field-type.ts';
import { identityOf, makeEntry } from './manager-entry.ts';
import { bringUpToDate, isUpToDate, type Managers, readManagers, replaceEntry, writeManagers } from './managers.ts';
import { SERVER_FIELDS, trackedPart, treeOf } from './server-fields.ts';
import { takeChanged, withoutServerFields } from './settle.ts';
import { ListItemError } from './typed-error.ts';

/** Whose write it is. */
export interface Writer {
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly apiVersion: string;
  readonly subresource?: 'status';
  /** What an object has before anybody has said anything, and nobody owns. */
  readonly empty?: JsonObject;
}

/**
 * The managedFields to store; undefined = none. `live` is the stored object (undefined = create), `next` the one to be stored, after
 * defaulting and normalising, with the managedFields that the request carried.
 */
export function trackUpdate(
  schema: Schema,
  live: KindObject | undefined,
  next: KindObject,
  writer: Writer,
): ManagedFieldsEntry[] | undefined {
  try {
    const record = live && afterOwnChange(typeOf(schema), live, next, writer);
    if (record) return record;
    const managers = baseManagers(live, next, writer);
    // An object that nobody tracks stays so until its first apply.
    if (managers.size === 0 && live !== undefined) return undefined;
    return writeManagers(trackChanges(schema, { live, next, writer, managers }), live?.metadata.managedFields);
  } catch (error) {
    // As upstream: no record at all rather than a wrong one, and the write itself goes on.
    if (error instanceof ListItemError) return undefined;
    throw error;
  }
}

/**
 * The common case, and worth knowing at once: new values for fields that the writer owns and nobody else does. Undefined where it is
 * another.
 */
function afterOwnChange(type: FieldType, live: KindObject, next: KindObject, writer: Writer): ManagedFieldsEntry[] | undefined {
  const stored = live.metadata.managedFields;
  const given = next.metadata.managedFields;
  if (stored === undefined || (given !== undefined && given !== stored) || !isUpToDate(stored, type, writer.apiVersion)) return undefined;
  const mine = stored.find((entry) => isOf(entry, writer));
  if (mine === undefined || !changesOnlyItsOwn(stored, mine, changesOf(type, live, next, writer))) return undefined;
  if (mine.time === writer.now) return stored;
  return replaceEntry(stored, mine, makeEntry({ ...mine, time: writer.now }, mine.fieldsV1), type);
}

/** All entries are of one version. */
function isOf({ manager, operation, subresource }: ManagedFieldsEntry, writer: Writer): boolean {
  return operation === 'Update' && manager === (writer.manager || 'unknown') && subresource === writer.subresource;
}

function changesOnlyItsOwn(stored: readonly ManagedFieldsEntry[], mine: ManagedFieldsEntry, { added, removed, modified }: Comparison) {
  if (!isEmpty(added) || !isEmpty(removed)) return false;
  // Nothing but what the server sets is no change of anybody's.
  if (isCovered(modified, SERVER_FIELDS) || !isCovered(modified, mine.fieldsV1 as FieldSet, SERVER_FIELDS)) return false;
  return stored.every((entry) => entry === mine || isDisjoint(modified, entry.fieldsV1 as FieldSet, SERVER_FIELDS));
}

interface Change {
  readonly live: KindObject | undefined;
  readonly next: KindObject;
  readonly writer: Writer;
  readonly managers: Managers;
}

/** Changes and returns the managers. */
export function trackChanges(schema: Schema, { live, next, writer, managers }: Change): Managers {
  const type = typeOf(schema);
  const changes = changesOf(type, live, next, writer);
  bringUpToDate(managers, type, writer.apiVersion);
  const identity = { ...writer, manager: writer.manager || 'unknown', operation: 'Update', time: writer.now } as const;
  const id = identityOf(identity);
  // What the writer had counts like anybody's: it gets the changed part back with what it gained.
  takeChanged(managers, undefined, changes);
  const gained = withoutServerFields(union(changes.modified, changes.added));
  if (!isEmpty(gained)) {
    const previous = managers.get(id);
    const set = previous === undefined ? gained : union(previous.set, gained);
    managers.set(id, { entry: makeEntry(identity), set });
  }
  mergeAncient(managers);
  return managers;
}

function changesOf(type: FieldType, live: KindObject | undefined, next: KindObject, { subresource, empty = {} }: Writer): Comparison {
  // What would be left out is the same on both sides: nothing to leave out.
  const isAlike = live !== undefined && live.status === next.status && live.metadata.managedFields === next.metadata.managedFields;
  if (isAlike && subresource === undefined) return compare(type, live, next);
  const before = live === undefined ? empty : trackedPart(treeOf(live), subresource);
  return compare(type, before, trackedPart(treeOf(next), subresource));
}

/** Clients may rewrite the record on the main endpoint; those who do not know it do not delete it. */
function baseManagers(live: KindObject | undefined, next: KindObject, { subresource }: Writer): Managers {
  const stored = live?.metadata.managedFields;
  const given: unknown = next.metadata.managedFields;
  if (subresource === undefined && given !== stored) {
    if (isReset(given)) return new Map();
    const managers = readManagers(given);
    if (managers !== undefined && managers.size > 0) return managers;
  }
  return readManagers(stored) ?? new Map();
}

/** `[{}]` asks for an empty record. `[]` does not: upstream does not tell it from none in custom resources. */
function isReset(given: unknown): boolean {
  return (
    Array.isArray(given) &&
    given.length === 1 &&
    isObject(given[0]) &&
    Object.values(given[0]).every((value) => value === null || value === undefined || value === '')
  );
}
