/** Does a value fit its type? The walkers that merge and compare take it for granted. Texts as upstream's. */
import { messageOf } from '#lib/errors.ts';
import { definedKeys, isObject } from '#lib/json.ts';
import { type FieldType, formOf, isScalar, type ListType, type MapType, type ScalarType, typeAt } from './field-type.ts';
import { goPlain, goSyntax, goType } from './go-text.ts';
import { itemElement } from './list-items.ts';
import { ownOf } from './own.ts';
import { fieldElement, printElement, printPath } from './path-element.ts';
import type { TypedProblem } from './typed-error.ts';

/** Deeper than any resource; far less than what the walkers could not take. */
export const MAX_DEPTH = 500;

interface Check {
  readonly allowsDuplicates: boolean;
  readonly problems: TypedProblem[];
  readonly path: string[];
}

export function typedProblems(type: FieldType, value: unknown, options: { readonly allowsDuplicates: boolean }): TypedProblem[] {
  const check: Check = { ...options, problems: [], path: [] };
  checkNode(check, type, value);
  return check.problems;
}

function report(check: Check, message: string): void {
  check.problems.push({ path: printPath(check.path), message });
}

function checkChild(check: Check, element: string, type: FieldType, value: unknown): void {
  check.path.push(element);
  if (check.path.length > MAX_DEPTH) report(check, 'nested too deeply');
  else checkNode(check, type, value);
  check.path.pop();
}

function checkNode(check: Check, type: FieldType, value: unknown): void {
  if (value === null) return;
  const form = formOf(type, value);
  if (form === 'map' && type.map !== undefined) checkMap(check, type.map, value);
  else if (form === 'list' && type.list !== undefined) checkList(check, type.list, value);
  else if (form === 'scalar' && type.scalar !== undefined) checkScalar(check, type.scalar, value);
}

function checkScalar(check: Check, type: ScalarType, value: unknown): void {
  if (type === 'numeric' && typeof value !== 'number') report(check, `expected numeric (int or float), got ${goType(value)}`);
  if (type === 'string' && typeof value !== 'string')
    report(check, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
  if (type === 'boolean' && typeof value !== 'boolean') report(check, `expected boolean, got &{${goPlain(value)}}`);
  if (type === 'untyped' && !isScalar(value)) report(check, `expected any scalar, got &{${goPlain(value)}}`);
}

function checkMap(check: Check, map: MapType, value: unknown): void {
  if (!isObject(value)) {
    report(check, `expected map, got &{${goPlain(value)}}`);
    return;
  }
  for (const key of definedKeys(value).sort()) {
    if (map.others !== undefined || map.fields.has(key)) checkChild(check, fieldElement(key), typeAt(map, key), ownOf(value, key));
    else check.problems.push({ path: printPath([...check.path, fieldElement(key)]), message: 'field not declared in schema' });
  }
}

function checkList(check: Check, list: ListType, value: unknown): void {
  if (!Array.isArray(value)) report(check, `expected list, got &{${goPlain(value)}}`);
  else if (list.isAtomic)
    value.forEach((item, index) => {
      checkChild(check, `i:${index}`, list.items, item);
    });
  else checkItems(check, list, value);
}

function checkItems(check: Check, list: ListType, items: readonly unknown[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    let element: string;
    try {
      element = itemElement(list, item);
    } catch (error) {
      // Nothing deeper can be named once the item has no name.
      report(check, `element ${index}: ${messageOf(error)}`);
      return;
    }
    if (seen.has(element) && !check.allowsDuplicates) report(check, `duplicate entries for key ${printElement(element)}`);
    seen.add(element);
    checkChild(check, element, list.items, item);
  }
}
