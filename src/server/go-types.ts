/**
 * Values of the built-in kinds, which are Go types in Kubernetes: what is of another type is refused in the words of the library that
 * reads them there, and what is of the right one gets the form that library would write. Pure.
 */
import { isGoMicroTime, isGoTime, toGoMicroTime, toGoTime } from '#lib/go-time.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { goKind } from './metadata-types.ts';

type Plain = 'string' | 'bool' | 'int32' | 'bytes' | 'time' | 'microTime';

export interface Struct {
  readonly struct: string;
  /** What is not named here is somebody else's to look at. */
  readonly fields: Readonly<Record<string, GoType>>;
  /** What is written even if nothing is said of it. Other fields are left out while they are empty. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** Fields may be set and empty. */
  readonly hasPointers?: true;
}

export type GoType = Plain | Struct | { readonly mapOf: GoType } | { readonly listOf: GoType };

interface Place {
  /** The type that has the field, and the path to it from the object: `LeaseSpec.spec.renewTime`. */
  readonly owner: string;
  readonly path: string;
}

/** The first thing wrong; undefined when all is well. */
export function goTypeProblem(type: GoType, value: unknown, place: Place): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (goKind(value) !== jsonKind(type)) return wrongType(type, value, place);
  if (typeof type === 'string') return textProblem(type, value);
  if ('struct' in type) return first(Object.keys(type.fields), (name) => fieldProblem(type, name, value as JsonObject, place));
  const item = 'mapOf' in type ? type.mapOf : type.listOf;
  return first(Object.values(value as object), (member) => goTypeProblem(item, member, place));
}

function fieldProblem(type: Struct, name: string, value: JsonObject, { path }: Place) {
  return goTypeProblem(type.fields[name] as GoType, value[name], { owner: type.struct, path: path === '' ? name : `${path}.${name}` });
}

function first<T>(members: readonly T[], problemOf: (member: T) => string | undefined): string | undefined {
  for (const member of members) {
    const problem = problemOf(member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What JSON has for it. */
function jsonKind(type: GoType): string {
  if (typeof type !== 'string') return 'listOf' in type ? 'array' : 'object';
  if (type === 'int32') return 'number';
  return type === 'bool' ? 'bool' : 'string';
}

function goName(type: GoType): string {
  if (typeof type === 'string') return type === 'bytes' ? '[]uint8' : type;
  if ('struct' in type) return `v1.${type.struct}`;
  return 'mapOf' in type ? `map[string]${goName(type.mapOf)}` : `[]${goName(type.listOf)}`;
}

function wrongType(type: GoType, value: unknown, { owner, path }: Place): string {
  if (type === 'time' || type === 'microTime') return `json: cannot unmarshal ${goKind(value)} into Go value of type string`;
  return `json: cannot unmarshal ${goKind(value)} into Go struct field ${owner}.${path} of type ${goName(type)}`;
}

const TIMES: Readonly<Partial<Record<Plain, (text: string) => boolean>>> = { time: isGoTime, microTime: isGoMicroTime };

function textProblem(type: Plain, value: unknown): string | undefined {
  if (type === 'int32') return Number.isInteger(value) ? undefined : `json: cannot unmarshal number ${value} into Go value of type int32`;
  if (type === 'bytes') return bytesProblem(String(value));
  const isRead = TIMES[type];
  if (!isRead || isRead(String(value))) return undefined;
  const quoted = JSON.stringify(value);
  const fraction = type === 'microTime' ? '.000000' : '';
  return `parsing time ${quoted} as "2006-01-02T15:04:05${fraction}Z07:00": cannot parse ${quoted} as "2006"`;
}

/** Where it stops to be base64. Line breaks are passed over, and groups of four have to be full. */
function bytesProblem(text: string): string | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  const stray = /[^A-Za-z0-9+/]/.exec(plain)?.index ?? plain.length;
  const rest = plain.slice(stray);
  const isPadded = rest === '' ? stray % 4 === 0 : (rest === '=' && stray % 4 === 3) || (rest === '==' && stray % 4 === 2);
  return isPadded ? undefined : `illegal base64 data at input byte ${rest === '' ? stray - (stray % 4) : stray}`;
}

/** The same value as it is written: times in one form, and what is empty as Go has it. Unchanged: the same object. */
export function goForm<T>(type: GoType, value: T): T;
export function goForm(type: GoType, value: unknown): unknown {
  if (typeof type === 'string') return typeof value === 'string' ? textForm(type, value) : value;
  if (Array.isArray(value) && 'listOf' in type)
    return changed(
      value,
      value.map((item) => goForm(type.listOf, item)),
    );
  return isObject(value) && 'struct' in type ? structForm(type, value) : value;
}

function structForm(type: Struct, value: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const [name, field] of Object.entries(type.fields)) {
    const before = Object.hasOwn(value, name) ? value[name] : undefined;
    const form = fieldForm(type, name, goForm(field, before));
    if (form === before && (form !== undefined || !Object.hasOwn(value, name))) continue;
    copy ??= { ...value };
    if (form === undefined) delete copy[name];
    else copy[name] = form;
  }
  return copy ?? value;
}

/** Undefined: left out. */
function fieldForm({ always = {}, hasPointers }: Struct, name: string, value: unknown): unknown {
  if (value === undefined || value === null) return always[name];
  const isEmpty = value === '' || value === 0;
  return isEmpty && !hasPointers && !Object.hasOwn(always, name) ? undefined : value;
}

function changed(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}

function textForm(type: Plain, text: string): string {
  if (type === 'time') return toGoTime(text);
  return type === 'microTime' ? toGoMicroTime(text) : text;
}
