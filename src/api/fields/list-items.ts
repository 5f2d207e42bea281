/** Telling the items of a granular list apart: by their keys, or by their value in a set. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { ListType } from './field-type.ts';
import { goJson } from './go-text.ts';
import { ownOf } from './own.ts';
import { valueElement } from './path-element.ts';
import { ListItemError } from './typed-error.ts';

export function itemElement(list: ListType, item: unknown): string {
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListType, item: unknown): string {
  if (item === null || item === undefined) throw new ListItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ListItemError('associative list with keys may not have non-map elements');
  const pairs: string[] = [];
  // Sorted by name when the schema was read.
  for (const name of list.keys) {
    const value = ownOf(item, name) ?? keyFallback(list, item, name);
    if (value !== undefined) pairs.push(`${goJson(name)}:${goJson(value)}`);
  }
  if (pairs.length === 0) throw new ListItemError(omitsKeys(list));
  return `k:{${pairs.join(',')}}`;
}

function omitsKeys({ declaredKeys }: ListType): string {
  const names = declaredKeys.map((name) => JSON.stringify(name)).join(' ');
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}

/** A key that is there but null counts as null; only one that is absent takes its default. */
function keyFallback(list: ListType, item: JsonObject, name: string): unknown {
  if (ownOf(item, name) === null) return null;
  return list.items.map?.fields.get(name)?.fallback ?? undefined;
}

function setElement(item: unknown): string {
  if (Array.isArray(item)) throw new ListItemError('not supported: associative list with lists as elements');
  if (isObject(item)) throw new ListItemError("associative list without keys has an element that's a map type");
  if (item === null || item === undefined) throw new ListItemError("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}

/** Items by their element, in order of first appearance; more than one under an element are duplicates. */
export function groupItems(list: ListType, items: readonly unknown[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}
