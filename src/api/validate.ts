/**
 * Admission of one kind: shape, defaults, types, rules. The CRD is the only schema; this turns it into a function.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { type FieldProblem, InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { shareJson } from '#lib/share.ts';
import { toProblem } from './ajv-problems.ts';
import { compileRules, type RuleTree, runRules } from './cel.ts';
import type { KindObject } from './meta.ts';
import { checkName } from './names.ts';
import { normalise } from './normalise.ts';
import { OBJECT_META, type Schema } from './schema.ts';

const KUBERNETES_KEYWORDS = [
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
];
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const KUBERNETES_FORMATS = { int32: true, int64: true, float: true, double: true, 'date-time': DATE_TIME } as const;

export interface KindSchema {
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: Schema;
}

export type Admit = (object: KindObject, old: KindObject | undefined) => KindObject;

/** Compiling takes tens of milliseconds: done when the first object of the kind comes along. */
export function admissionOf({ kind, apiVersion, schema }: KindSchema): Admit {
  let compiled: { schema: Schema; validate: ValidateFunction; rules: RuleTree | undefined } | undefined;
  return (object, old) => {
    compiled ??= compile(schema);
    const problems: FieldProblem[] = [];
    checkIdentity(object, { kind, apiVersion }, problems);
    const admitted = shaped(compiled.schema, object, old, problems);
    // A status that is the stored one was checked when it came.
    const unchecked = old && admitted.status === old.status ? { ...admitted, status: undefined } : admitted;
    if (!compiled.validate(unchecked)) problems.push(...(compiled.validate.errors ?? []).map((error) => toProblem(error, admitted)));
    if (problems.length === 0 && compiled.rules) runRules(compiled.rules, admitted, old, problems);
    if (problems.length > 0) throw invalidObject(object, kind, problems);
    return admitted;
  };
}

/** Parts that are the stored ones were admitted before: they stay as they are, so that rules and comparisons can skip them too. */
function shaped(schema: Schema, object: KindObject, old: KindObject | undefined, problems: FieldProblem[]): KindObject {
  const kept = (['spec', 'status'] as const).filter((part) => old && object[part] !== undefined && object[part] === old[part]);
  // A scalar in their place keeps the order of keys and costs nothing to walk.
  const rest = kept.length === 0 ? object : { ...object, ...Object.fromEntries(kept.map((part) => [part, 0])) };
  const admitted = normalise(schema, rest, problems) as JsonObject & KindObject;
  for (const part of kept) admitted[part] = object[part];
  // What did not change is the stored one from here on: nothing to freeze, to compare or to keep twice.
  return old ? shareJson(admitted, old) : admitted;
}

function compile(schema: Schema) {
  const complete: Schema = { ...schema, properties: { ...schema.properties, metadata: OBJECT_META } };
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    keywords: KUBERNETES_KEYWORDS,
    formats: KUBERNETES_FORMATS,
    strictTypes: false,
    strictRequired: false,
  });
  return { schema: complete, validate: ajv.compile(complete), rules: compileRules(complete) };
}

function checkIdentity(object: KindObject, expected: { kind: string; apiVersion: string }, problems: FieldProblem[]): void {
  for (const field of ['apiVersion', 'kind'] as const) {
    if (object[field] === expected[field]) continue;
    const message = `Unsupported value: ${JSON.stringify(object[field] ?? null)}: supported values: ${JSON.stringify(expected[field])}`;
    problems.push({ path: field, segments: [field], kind: 'NotSupported', message });
  }
  checkName('metadata.name', object.metadata?.name, problems);
  checkName('metadata.namespace', object.metadata?.namespace, problems);
}

export function invalidObject(object: KindObject, kind: string, problems: readonly FieldProblem[]): InvalidError {
  const list = problems.map(formatProblem);
  const name = isObject(object.metadata) ? object.metadata.name : '';
  const text = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  return new InvalidError(`${kind} ${JSON.stringify(name)} is invalid: ${text}`, problems);
}

/** `spec.count: Invalid value: …`; the message of an unknown field names its path already. */
export function formatProblem({ path, kind, message }: FieldProblem): string {
  return kind === 'Unknown' ? message : `${path}: ${message}`;
}
