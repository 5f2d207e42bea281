/** The x-kubernetes-validations of a schema: compiled once, run on the parts of an object that changed. */
import { Environment } from '@marcbachmann/cel-js';
import { type FieldProblem, messageOf } from '#lib/errors.ts';
import { equalJson, formatPath, isObject, type JsonObject, type JsonPath, valueAt } from '#lib/json.ts';
import type { Schema, ValidationRule } from './schema.ts';

type Segments = readonly (string | number)[];
type Evaluate = (context: { self: unknown; oldSelf?: unknown }) => unknown;

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly evaluate: Evaluate;
  /** What to say when it fails, with values in it. */
  readonly say: Evaluate | undefined;
  /** Compares with the stored value: only runs when there is one. */
  readonly isTransition: boolean;
  /** The parts of self it looks at; undefined when it looks at self as a whole. */
  readonly reads: readonly JsonPath[] | undefined;
}

/** The rules at one schema node and below; undefined members where there are none, so whole subtrees are skipped. */
export interface RuleTree {
  readonly schema: Schema;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly additional: RuleTree | undefined;
  readonly items: RuleTree | undefined;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })
  .registerFunction('list.sum(): dyn', (list: unknown) => sum([...(list as Iterable<unknown>)]))
  .registerFunction('list.isSorted(): bool', (list: unknown) => isSorted([...(list as Iterable<unknown>)]));

/** Throws on a rule that does not compile: a mistake in a CRD must not wait for the first object. */
export function compileRules(schema: Schema): RuleTree | undefined {
  const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, schema));
  const properties = new Map<string, RuleTree>();
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    const tree = compileRules(member);
    if (tree) properties.set(key, tree);
  }
  const additional = isObject(schema.additionalProperties) ? compileRules(schema.additionalProperties as Schema) : undefined;
  const items = schema.items && compileRules(schema.items);
  if (rules.length === 0 && properties.size === 0 && !additional && !items) return undefined;
  return { schema, rules, properties, additional, items };
}

function compileRule(rule: ValidationRule, schema: Schema): CompiledRule {
  const evaluate = environment.parse(rule.rule) as unknown as Evaluate;
  const say = rule.messageExpression === undefined ? undefined : (environment.parse(rule.messageExpression) as unknown as Evaluate);
  const text = `${rule.rule} ${rule.messageExpression ?? ''}`;
  return { rule, evaluate, say, isTransition: /\boldSelf\b/.test(rule.rule), reads: pathsRead(text, schema) };
}

/** Every `self.a.b` of a rule, as far as the schema knows the fields: what comes after that is a method call. */
function pathsRead(rule: string, schema: Schema): JsonPath[] | undefined {
  if (/\bself\b(?!\.)/.test(rule)) return undefined;
  return [...rule.matchAll(/\bself((?:\.\w+)+)/g)].map((match) => {
    const path: string[] = [];
    let at: Schema | undefined = schema;
    for (const segment of (match[1] ?? '').slice(1).split('.')) {
      at = at.properties?.[segment];
      if (!at) break;
      path.push(segment);
    }
    return path;
  });
}

/** A value that is the stored one needs no second look: the rules are pure. */
export function runRules(tree: RuleTree, value: unknown, old: unknown, problems: FieldProblem[], at: Segments = []): void {
  if (value === undefined || value === null || value === old) return;
  for (const compiled of tree.rules) {
    if (isUnchanged(compiled.reads, value, old)) continue;
    const self = visible(tree.schema, value, compiled.reads);
    const oldSelf = old === undefined ? undefined : visible(tree.schema, old, compiled.reads);
    runRule(compiled, { self, oldSelf }, problems, at);
  }
  if (isObject(value)) runMembers(tree, value, isObject(old) ? old : {}, problems, at);
  else if (Array.isArray(value) && tree.items) runItems(tree, tree.items, value, { old, problems, at });
}

function isUnchanged(reads: readonly JsonPath[] | undefined, value: unknown, old: unknown): boolean {
  return reads !== undefined && old !== undefined && reads.every((path) => equalJson(valueAt(value, path), valueAt(old, path)));
}

/** The parts that the rule reads, and no more: converting a whole object costs more than most rules. */
function visible(schema: Schema, value: unknown, reads: readonly JsonPath[] | undefined): unknown {
  if (!reads?.every((path) => path.length > 0) || !isObject(value)) return toCel(schema, value);
  const part: JsonObject = {};
  for (const path of reads) show(part, value, path);
  return toCel(schema, part);
}

/** Maps on the way are there even when what they should lead to is not: `has()` asks them. */
function show(part: JsonObject, value: JsonObject, path: JsonPath): void {
  const [segment = '', ...rest] = path;
  const found = value[segment];
  if (found === undefined || found === part[segment]) return;
  if (rest.length === 0 || !isObject(found)) {
    part[segment] = found;
    return;
  }
  const shown = part[segment];
  const inner: JsonObject = isObject(shown) ? shown : {};
  part[segment] = inner;
  show(inner, found, rest);
}

function runMembers(tree: RuleTree, value: JsonObject, old: JsonObject, problems: FieldProblem[], at: Segments): void {
  for (const [key, member] of tree.properties) {
    if (value[key] !== old[key]) runRules(member, value[key], old[key], problems, [...at, key]);
  }
  if (!tree.additional) return;
  for (const key of Object.keys(value))
    if (!tree.properties.has(key)) runRules(tree.additional, value[key], old[key], problems, [...at, key]);
}

interface ItemContext {
  readonly old: unknown;
  readonly problems: FieldProblem[];
  readonly at: Segments;
}

/** Entries of a map-list meet their old selves by key; in other lists there is no telling who is who. */
function runItems(tree: RuleTree, items: RuleTree, list: readonly unknown[], { old, problems, at }: ItemContext): void {
  const keys = tree.schema['x-kubernetes-list-map-keys'];
  const identity = (item: unknown) => (keys && isObject(item) ? JSON.stringify(keys.map((key) => item[key])) : undefined);
  const before = new Map(keys && Array.isArray(old) ? old.map((item) => [identity(item), item]) : []);
  list.forEach((item, index) => {
    runRules(items, item, before.get(identity(item)), problems, [...at, index]);
  });
}

function runRule(
  { rule, evaluate, say, isTransition }: CompiledRule,
  context: { self: unknown; oldSelf: unknown },
  problems: FieldProblem[],
  at: Segments,
): void {
  if (isTransition && context.oldSelf === undefined) return;
  const given = context.oldSelf === undefined ? { self: context.self } : { self: context.self, oldSelf: context.oldSelf };
  let failure: string | undefined;
  try {
    if (evaluate(given) === true) return;
  } catch (error) {
    failure = `rule cannot be evaluated: ${messageOf(error).split('\n')[0]}`;
  }
  const segments = [...at, ...(rule.fieldPath ?? '').split('.').filter((segment) => segment !== '')];
  const text = failure ?? said(say, given) ?? rule.message ?? `failed rule: ${rule.rule}`;
  problems.push({ path: formatPath(segments), segments, ...complaint(rule.reason, context.self, text) });
}

/** As Kubernetes: an expression that fails, or gives nothing to read in one line, says nothing. */
function said(say: Evaluate | undefined, context: { self: unknown; oldSelf?: unknown }): string | undefined {
  try {
    const text = say?.(context);
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A rule may say what kind of mistake it finds. */
function complaint(reason: string | undefined, value: unknown, text: string): Pick<FieldProblem, 'kind' | 'message'> {
  switch (reason) {
    case 'FieldValueRequired':
      return { kind: 'Required', message: `Required value: ${text}` };
    case 'FieldValueForbidden':
      return { kind: 'Forbidden', message: `Forbidden: ${text}` };
    default:
      return { kind: 'Invalid', message: `${shownValue(value)}: ${text}` };
  }
}

/** Kubernetes names the type, not the value. */
function shownValue(value: unknown): string {
  return `Invalid value: ${JSON.stringify(Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'integer' : typeof value)}`;
}

/** CEL tells integers from doubles, JSON does not: the schema decides. A null is an absent field. */
function toCel(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => toCel(schema.items ?? {}, item));
  if (isObject(value)) return toCelMap(schema, value);
  if (typeof value === 'number' && schema.type !== 'number' && Number.isInteger(value)) return BigInt(value);
  return value;
}

function toCelMap(schema: Schema, value: JsonObject): JsonObject {
  const map: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null || member === undefined) continue;
    const additional = isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : {};
    map[key] = toCel(schema.properties?.[key] ?? additional, member);
  }
  return map;
}

function sum(values: readonly unknown[]): bigint | number {
  return values.every((value) => typeof value === 'bigint')
    ? values.reduce<bigint>((total, value) => total + (value as bigint), 0n)
    : values.reduce<number>((total, value) => total + Number(value), 0);
}

function isSorted(values: readonly unknown[]): boolean {
  return values.every((value, index) => index === 0 || (values[index - 1] as string) <= (value as string));
}
