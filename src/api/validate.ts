/**
 * Admission of one kind: shape, defaults, types, rules. The CRD is the only schema; this turns it into a function.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { FieldProblem } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { shareJson } from '#lib/share.ts';
import { toProblem } from './ajv-problems.ts';
import { compileRules, type RuleTree, runRules } from './cel.ts';
import { withMetadata } from './compile-schema.ts';
import { invalidObject } from './invalid-object.ts';
import type { KindObject } from './meta.ts';
import { normalise } from './normalise.ts';
import { checkMetadata, type MetadataRules } from './object-meta.ts';
import type { Schema } from './schema.ts';
import { validatorOf } from './validators.ts';

export { formatProblem } from './invalid-object.ts';

export interface KindSchema {
  readonly kind: string;
  readonly apiVersion: string;
  readonly schema: Schema;
  /** True unless it is said to be false. */
  readonly isNamespaced?: boolean;
  /** A rule of the schema may ask for more. */
  readonly names?: MetadataRules['names'];
  /** What no schema can say. */
  readonly rules?: (object: KindObject, old: KindObject | undefined) => readonly FieldProblem[];
  /** The same, for rules that can only look at an object of the right shape. */
  readonly shapedRules?: (object: KindObject, old: KindObject | undefined) => readonly FieldProblem[];
}

export type Admit = (object: KindObject, old: KindObject | undefined) => KindObject;

const NO_RULES = () => [];

/** Compiling takes tens of milliseconds: done when the first object of the kind comes along. */
export function admissionOf(given: KindSchema): Admit {
  const { kind, apiVersion, schema, isNamespaced = true, names = 'subdomain', rules = NO_RULES, shapedRules = NO_RULES } = given;
  let compiled: { schema: Schema; validate: ValidateFunction; rules: RuleTree | undefined } | undefined;
  return (object, old) => {
    compiled ??= compile(kind, schema);
    const ofIdentity = identityProblems(object, old, { kind, apiVersion, isNamespaced, names });
    const ofShape: FieldProblem[] = [];
    const admitted = shaped(compiled.schema, object, old, ofShape);
    // A status that is the stored one was checked when it came.
    const unchecked = old && admitted.status === old.status ? { ...admitted, status: undefined } : admitted;
    const ofSchema = compiled.validate(unchecked) ? [] : schemaProblems(compiled.validate.errors ?? [], admitted);
    const problems = inOrder(ofIdentity, ofShape, ofSchema);
    problems.push(...rules(admitted, old));
    const isMisshapen = problems.some(({ kind }) => BLOCKING.includes(kind));
    const isPartial = isMisshapen && compiled.rules !== undefined;
    if (!isMisshapen) runAllRules({ ofSchema: compiled.rules, shapedRules }, admitted, old, problems);
    if (problems.length > 0) throw invalidObject(object, kind, problems, { isPartial });
    return admitted;
  };
}

/** In which Kubernetes finds them; unknown fields, which may be why others are missing, are none there. */
function inOrder(ofIdentity: FieldProblem[], ofShape: FieldProblem[], ofSchema: FieldProblem[]): FieldProblem[] {
  if (ofShape.length + ofSchema.length === 0) return ofIdentity;
  const repeated = ofShape.filter((problem) => !isUnknown(problem));
  return [...ofIdentity, ...ofShape.filter(isUnknown), ...ofSchema, ...repeated];
}

interface LateRules {
  readonly ofSchema: RuleTree | undefined;
  readonly shapedRules: NonNullable<KindSchema['shapedRules']>;
}

function runAllRules(
  { ofSchema, shapedRules }: LateRules,
  admitted: KindObject,
  old: KindObject | undefined,
  problems: FieldProblem[],
): void {
  problems.push(...shapedRules(admitted, old));
  if (ofSchema) runRules(ofSchema, admitted, old, problems);
}

function isUnknown({ kind }: FieldProblem): boolean {
  return kind === 'Unknown';
}

/** What is too long has been said enough about. */
function schemaProblems(errors: readonly ErrorObject[], admitted: unknown): FieldProblem[] {
  const problems = errors.map((error) => toProblem(error, admitted));
  const tooLong = new Set(problems.filter(({ kind }) => kind === 'TooLong').map(({ path }) => path));
  return tooLong.size === 0 ? problems : problems.filter(({ kind, path }) => kind === 'TooLong' || !tooLong.has(path));
}

/** A value of the wrong shape, or too large to look at, is not shown to the rules. */
const BLOCKING: readonly FieldProblem['kind'][] = ['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid'];

/** Parts that are the stored ones were admitted before: they stay as they are, so that rules and comparisons can skip them too. */
function shaped(schema: Schema, object: KindObject, old: KindObject | undefined, problems: FieldProblem[]): KindObject {
  const admitted = normalise(schema, object, problems, old) as JsonObject & KindObject;
  if (admitted.metadata !== old?.metadata) dropEmpty(admitted.metadata as unknown as JsonObject | undefined);
  // What did not change is the stored one from here on: nothing to freeze, to compare or to keep twice.
  return old ? shareJson(admitted, old) : admitted;
}

const MAY_BE_EMPTY = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** Empty and absent are the same thing to every client. */
function dropEmpty(metadata: JsonObject | undefined): void {
  if (!isObject(metadata)) return;
  for (const field of MAY_BE_EMPTY) {
    const value = metadata[field];
    const isEmpty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
    if (isEmpty) delete metadata[field];
  }
}

function compile(kind: string, schema: Schema) {
  const complete = withMetadata(schema);
  return { schema: complete, validate: validatorOf(kind, complete), rules: compileRules(complete) };
}

interface Identity extends MetadataRules {
  readonly kind: string;
  readonly apiVersion: string;
}

function identityProblems(object: KindObject, old: KindObject | undefined, expected: Identity): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const field of ['apiVersion', 'kind'] as const) {
    if (object[field] === expected[field]) continue;
    const message = `Invalid value: ${JSON.stringify(object[field] ?? '')}: must be ${expected[field]}`;
    problems.push({ path: field, segments: [field], kind: 'Invalid', message });
  }
  if (object.metadata !== old?.metadata && isObject(object.metadata)) checkMetadata(object.metadata, expected, old?.metadata, problems);
  return problems;
}
