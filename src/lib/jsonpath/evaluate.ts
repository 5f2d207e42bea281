/** Walks a value by a parsed template. Own properties only, and no more than a fixed amount of work. */
import { isObject } from '../json.ts';
import { compare } from './compare.ts';
import { JsonPathError, type JsonPathTemplate, type Part, type Step, type Steps } from './template.ts';

export interface FindOptions {
  /** A field that is not there gives nothing instead of an error. */
  readonly allowMissingKeys?: boolean;
}

/** Values looked at in one evaluation: `..*..*` on a large list would otherwise never end. */
const MAX_VALUES = 5_000_000;

interface Walk {
  readonly source: string;
  readonly allowMissingKeys: boolean;
  values: number;
}

/** One group of results for each path of the template that is passed, in order; text is a group of its own. */
export function findAll({ source, parts }: JsonPathTemplate, value: unknown, options: FindOptions = {}): unknown[][] {
  const groups: unknown[][] = [];
  walkParts(parts, value, { walk: { source, allowMissingKeys: options.allowMissingKeys ?? false, values: 0 }, groups });
  return groups;
}

interface Output {
  readonly walk: Walk;
  readonly groups: unknown[][];
}

function walkParts(parts: readonly Part[], value: unknown, output: Output): void {
  for (const part of parts) {
    if (part.kind === 'text') output.groups.push([part.text]);
    else if (part.kind === 'path') output.groups.push(follow(part.steps, [value], output.walk));
    else for (const item of follow(part.steps, [value], output.walk)) walkParts(part.body, item, output);
  }
}

function follow(steps: Steps, from: unknown[], walk: Walk): unknown[] {
  let values = from;
  for (const step of steps) values = take(step, values, walk);
  return values;
}

function take(step: Step, values: unknown[], walk: Walk): unknown[] {
  switch (step.kind) {
    case 'field':
      return fieldOf(step.name, values, walk);
    case 'wildcard':
      return collect(values, walk, membersOf);
    case 'descend':
      return collect(values, walk, (value) => containersIn(value, walk));
    case 'index':
      return collect(values, walk, (value) => (value === null ? [] : [itemAt(arrayFrom(value, 'indexed'), step.index)]));
    case 'slice':
      return collect(values, walk, (value) => (value === null ? [] : sliceOf(arrayFrom(value, 'indexed'), step)));
    case 'union':
      return step.branches.flatMap((branch) => follow(branch, values, walk));
    case 'exists':
      return collect(values, walk, (value) => arrayFrom(value, 'filtered').filter((item) => exists(step.left, item, walk)));
    case 'filter':
      return collect(values, walk, (value) => arrayFrom(value, 'filtered').filter((item) => passes(step, item, walk)));
    case 'literal':
      return values.map(() => step.value);
  }
}

function collect(values: unknown[], walk: Walk, resultsOf: (value: unknown) => readonly unknown[]): unknown[] {
  const all: unknown[] = [];
  for (const value of values) {
    const results = resultsOf(value);
    count(results.length + 1, walk);
    for (const result of results) all.push(result);
  }
  return all;
}

function count(values: number, walk: Walk): void {
  walk.values += values;
  if (walk.values > MAX_VALUES)
    throw new JsonPathError(`jsonpath ${JSON.stringify(walk.source)}: more than ${MAX_VALUES} values to look at`);
}

function fieldOf(name: string, values: unknown[], walk: Walk): unknown[] {
  const found: unknown[] = [];
  count(values.length, walk);
  for (const value of values) {
    if (isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined) found.push(value[name]);
  }
  if (found.length === 0 && values.length > 0 && !walk.allowMissingKeys) throw new JsonPathError(`${name} is not found`);
  return found;
}

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

/** The value and every list and map within it that is not empty, each before what it contains. */
function containersIn(value: unknown, walk: Walk): unknown[] {
  const found: unknown[] = [];
  const pending = [value];
  while (pending.length > 0) {
    const container = pending.pop();
    const members = membersOf(container);
    if (members.length > 0) found.push(container);
    for (let at = members.length - 1; at >= 0; at--) pending.push(members[at]);
    count(members.length, walk);
  }
  return found;
}

function arrayFrom(value: unknown, use: 'indexed' | 'filtered'): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const what = value === null ? 'null' : isObject(value) ? 'a map' : `a ${typeof value}`;
  throw new JsonPathError(`${what} is not an array and cannot be ${use}`);
}

function itemAt(items: readonly unknown[], index: number): unknown {
  const at = index < 0 ? index + items.length : index;
  if (at < 0 || at >= items.length) throw outOfBounds(at, items);
  return items[at];
}

function sliceOf(items: readonly unknown[], { start = 0, end = items.length, step }: Extract<Step, { kind: 'slice' }>): unknown[] {
  const from = start < 0 ? start + items.length : start;
  const to = end < 0 ? end + items.length : end;
  if (from === to) return [];
  if (from < 0 || from >= items.length) throw outOfBounds(from, items);
  if (to < 0 || to > items.length) throw outOfBounds(to - 1, items);
  if (from > to) throw new JsonPathError(`starting index ${from} is greater than ending index ${to}`);
  return items.slice(from, to).filter((_, at) => at % step === 0);
}

function outOfBounds(index: number, { length }: readonly unknown[]): JsonPathError {
  return new JsonPathError(`array index out of bounds: index ${index}, length ${length}`);
}

function exists(left: Steps, item: unknown, walk: Walk): boolean {
  try {
    return follow(left, [item], walk).length > 0;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}

function passes({ left, operator, right }: Extract<Step, { kind: 'filter' }>, item: unknown, walk: Walk): boolean {
  const lefts = follow(left, [item], walk);
  if (lefts.length === 0) return false;
  const rights = follow(right, [item], walk);
  if (rights.length === 0) return false;
  if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('can only compare one element at a time');
  return compare(lefts[0], operator, rights[0]);
}
