/** Who owns which fields: the entries of metadata.managedFields, read and written back. */
import type { ManagedFieldsEntry } from '../meta.ts';
import { type FieldSet, forStore, isEmpty } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import { decodeFields } from './fields-v1.ts';
import { followSchema } from './follow-schema.ts';
import { identityOfEntry, makeEntry, readEntry } from './manager-entry.ts';

export interface Manager {
  /** As it was read, or made by this write; its fields are not the set's once these changed. */
  readonly entry: ManagedFieldsEntry;
  readonly set: FieldSet;
}

/** By identity. */
export type Managers = Map<string, Manager>;

/** Undefined if any entry cannot be understood. */
export function readManagers(entries: unknown): Managers | undefined {
  const managers: Managers = new Map();
  if (entries === undefined || entries === null) return managers;
  if (!Array.isArray(entries)) return undefined;
  try {
    for (const given of entries) {
      const entry = readEntry(given);
      managers.set(identityOfEntry(entry), { entry, set: decodeFields(entry.fieldsV1) });
    }
    return managers;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The entries to store, in upstream's order; undefined = none. Where they are those that were stored before, these. */
export function writeManagers(managers: Managers, stored?: ManagedFieldsEntry[]): ManagedFieldsEntry[] | undefined {
  const entries: ManagedFieldsEntry[] = [];
  for (const { entry, set } of managers.values()) {
    if (isEmpty(set)) continue;
    entries.push(set === entry.fieldsV1 ? entry : makeEntry(entry, forStore(set)));
  }
  if (entries.length === 0) return undefined;
  const sorted = entries.sort(compareEntries).map(withoutEmptyName);
  return stored?.length === sorted.length && sorted.every((entry, index) => entry === stored[index]) ? stored : sorted;
}

/** As upstream writes it. Only clients that write entries themselves leave the name out, and readEntry understands it. */
function withoutEmptyName(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  if (entry.manager !== '') return entry;
  const { manager: _empty, ...rest } = entry;
  return rest as ManagedFieldsEntry;
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTimes(a, b) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource ?? '', b.subresource ?? '')
  );
}

/** Times have one form, so that their texts sort like them; an entry without one is the oldest. */
export function compareTimes(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return compareTexts(a.time ?? '', b.time ?? '');
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Sets that were found to fit a type: those of stored objects come here with every write. */
const fitting = new WeakMap<FieldSet, FieldType>();

/**
 * Changes `managers` to what the schema of today can compare: entries of versions that are no longer served go, and field sets follow
 * a schema that changed.
 */
export function bringUpToDate(managers: Managers, type: FieldType, apiVersion: string): void {
  for (const [id, { entry, set }] of managers) {
    const followed = fitting.get(set) === type ? set : followSchema(type, set);
    fitting.set(followed, type);
    if (entry.apiVersion !== apiVersion) managers.delete(id);
    else if (followed !== set) managers.set(id, { entry, set: followed });
  }
}

/** Records that were found to need nothing, and for which type. */
const current = new WeakMap<readonly ManagedFieldsEntry[], FieldType>();

/** Whether a stored record is what writing it again would give: every entry understood, of this version, and fit for the type. */
export function isUpToDate(stored: readonly ManagedFieldsEntry[], type: FieldType, apiVersion: string): boolean {
  if (stored[0]?.apiVersion !== apiVersion) return false;
  if (current.get(stored) === type) return true;
  const managers = readManagers(stored);
  if (managers?.size !== stored.length) return false;
  const read = [...managers.values()];
  const isAsRead = stored.every((entry, index) => read[index]?.entry === entry && read[index].set === entry.fieldsV1);
  if (!isAsRead || stored.some((entry) => entry.apiVersion !== apiVersion || entry.manager === '')) return false;
  if (read.some(({ set }) => isEmpty(set) || followSchema(type, set) !== set)) return false;
  current.set(stored, type);
  return true;
}

/** A record that is up to date, with another entry of the same manager and fields. */
export function replaceEntry(
  stored: readonly ManagedFieldsEntry[],
  old: ManagedFieldsEntry,
  entry: ManagedFieldsEntry,
  type: FieldType,
): ManagedFieldsEntry[] {
  const entries = stored.map((each) => (each === old ? entry : each)).sort(compareEntries);
  current.set(entries, type);
  return entries;
}
