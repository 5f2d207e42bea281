/** Metadata that is not even of the right types: a client library could not have sent it, and gets to hear so in its words. */
import { isGoTime } from '#lib/go-time.ts';
import { isObject, type JsonObject } from '#lib/json.ts';

const TEXTS = ['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'];
const MAPS = ['labels', 'annotations'];
const NUMBERS = ['generation', 'deletionGracePeriodSeconds'];
const TIMES = ['creationTimestamp', 'deletionTimestamp'];

/** The first thing wrong; undefined when all is well. */
export function metadataTypeProblem(metadata: unknown): string | undefined {
  if (!isObject(metadata)) return `json: cannot unmarshal ${goKind(metadata)} into Go value of type v1.ObjectMeta`;
  return (
    first(TEXTS, (field) => unlessType(metadata[field], 'string', field)) ??
    first(MAPS, (field) => mapProblem(metadata[field], field)) ??
    first(NUMBERS, (field) => unlessType(metadata[field], 'number', field, 'int64')) ??
    first(TIMES, (field) => timeProblem(metadata[field])) ??
    listProblem(metadata, 'finalizers', 'string', '[]string') ??
    listProblem(metadata, 'ownerReferences', 'object', '[]v1.OwnerReference') ??
    listProblem(metadata, 'managedFields', 'object', '[]v1.ManagedFieldsEntry')
  );
}

function first(fields: readonly string[], problemOf: (field: string) => string | undefined): string | undefined {
  for (const field of fields) {
    const problem = problemOf(field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function unlessType(value: unknown, type: string, field: string, goType = type): string | undefined {
  if (value === undefined || value === null || goKind(value) === type) return undefined;
  return `json: cannot unmarshal ${goKind(value)} into Go struct field ObjectMeta.${field} of type ${goType}`;
}

function mapProblem(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return unlessType(value, 'object', field, 'map[string]string');
  for (const member of Object.values(value)) {
    const problem = unlessType(member, 'string', field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listProblem(metadata: JsonObject, field: string, type: string, goType: string): string | undefined {
  const value = metadata[field];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return unlessType(value, 'array', field, goType);
  return first(
    value.map((_, index) => String(index)),
    (index) => unlessType(value[Number(index)], type, field, goType.slice(2)),
  );
}

function timeProblem(value: unknown): string | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && isGoTime(value))) return undefined;
  if (typeof value !== 'string') return `json: cannot unmarshal ${goKind(value)} into Go value of type string`;
  return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
}

export function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
