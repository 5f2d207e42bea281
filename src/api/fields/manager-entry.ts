/** One entry of metadata.managedFields: reading it from strangers, telling it apart, making it. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { ManagedFieldsEntry } from '../meta.ts';
import { NO_FIELDS } from './field-set.ts';
import { managerNameProblem } from './manager-name.ts';

export type Identity = Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'apiVersion'> & { subresource?: string | undefined };

/** An applier stays the same over versions; an updater does not. */
export function identityOf({ manager, operation, apiVersion, subresource }: Identity): string {
  const version = operation === 'Update' ? `,"apiVersion":${JSON.stringify(apiVersion)}` : '';
  const part = subresource ? `,"subresource":${JSON.stringify(subresource)}` : '';
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${part}}`;
}

/** The same of an entry, which never changes. */
export function identityOfEntry(entry: ManagedFieldsEntry): string {
  const known = identities.get(entry);
  if (known !== undefined) return known;
  const identity = identityOf(entry);
  identities.set(entry, identity);
  return identity;
}

const identities = new WeakMap<ManagedFieldsEntry, string>();

/** Throws SyntaxError if it cannot be understood. The same object if there is nothing to put right. */
export function readEntry(given: unknown): ManagedFieldsEntry {
  if (!isObject(given)) throw new SyntaxError('not an entry');
  if (known.has(given)) return given as JsonObject & ManagedFieldsEntry;
  const entry = checkedEntry(given);
  known.add(entry);
  return entry;
}

/** The entries of stored objects come here with every write; they are never changed. */
const known = new WeakSet<object>();

function checkedEntry(given: JsonObject): ManagedFieldsEntry {
  const { operation, apiVersion, time, fieldsType, fieldsV1, subresource = '' } = given;
  if (operation !== 'Apply' && operation !== 'Update') throw new SyntaxError('operation');
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new SyntaxError('apiVersion');
  if (typeof subresource !== 'string' || subresource.length > 256) throw new SyntaxError('subresource');
  if (fieldsType !== 'FieldsV1') throw new SyntaxError('fieldsType');
  const fields = isObject(fieldsV1) ? fieldsV1 : readNoFields(fieldsV1);
  const entry = makeEntry({ manager: readName(given['manager']), operation, apiVersion, subresource, time: readTime(time) }, fields);
  return isSameEntry(entry, given) ? given : entry;
}

function readName(name: unknown = ''): string {
  if (typeof name !== 'string' || (name !== '' && managerNameProblem(name) !== undefined)) throw new SyntaxError('manager');
  return name;
}

function isSameEntry(entry: ManagedFieldsEntry, given: JsonObject): given is JsonObject & ManagedFieldsEntry {
  const keys = Object.keys(given);
  return keys.length === Object.keys(entry).length && Object.entries(entry).every(([key, value]) => given[key] === value);
}

function readNoFields(fields: unknown): JsonObject {
  if (fields === undefined || fields === null) return NO_FIELDS;
  throw new SyntaxError('fieldsV1');
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const STORED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Whole seconds in UTC, as the server writes times. */
function readTime(time: unknown): string | undefined {
  if (time === undefined || time === null) return undefined;
  if (typeof time !== 'string' || !RFC3339.test(time)) throw new SyntaxError('time');
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new SyntaxError('time');
  return STORED.test(time) ? time : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The members in the order in which the server writes them. The fields of an entry that changes come in when it is written. */
export function makeEntry(identity: Identity & { time?: string | undefined }, fieldsV1: JsonObject = NO_FIELDS): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, subresource } = identity;
  return {
    manager,
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource && { subresource }),
  };
}
