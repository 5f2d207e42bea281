/** What `nft -j list table` says, as elements to compare and a hash of everything that must never change. Pure. */
import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type Elements, NO_ELEMENTS, SET_NAMES, type SetName } from './ruleset.ts';

export interface KernelRules {
  /** Of the rules, chains, counters and sets without handles, counts, and the elements that follow from the policy. */
  readonly shape: string;
  readonly elements: Elements;
}

/** Changes with every packet, or with the order in which things were made. */
const VOLATILE: ReadonlySet<string> = new Set(['handle', 'packets', 'bytes']);

export function readRules(listing: unknown): KernelRules {
  const elements: Record<SetName, readonly string[]> = { ...NO_ELEMENTS };
  const hash = createHash('sha256');
  for (const item of itemsOf(listing)) {
    if (item['metainfo'] !== undefined) continue;
    const found = membersOf(item);
    if (found) elements[found.name] = found.elements;
    hash.update(JSON.stringify(found ? withoutElements(item) : item, steady)).update('\n');
  }
  return { shape: hash.digest('hex'), elements };
}

export interface CounterValues {
  readonly [name: string]: number;
}

/** Packets of each named counter. */
export function readCounters(listing: unknown): CounterValues {
  const counters = itemsOf(listing).flatMap(({ counter }) => (isObject(counter) ? [counter] : []));
  return Object.fromEntries(counters.map(({ name, packets }) => [String(name), Number(packets)]));
}

function itemsOf(listing: unknown): JsonObject[] {
  return isObject(listing) && Array.isArray(listing['nftables']) ? listing['nftables'].filter(isObject) : [];
}

/** Undefined for everything but one of our sets with elements of the plain kind that we make: the rest belongs to the shape. */
function membersOf(item: JsonObject): { readonly name: SetName; readonly elements: readonly string[] } | undefined {
  const set = item['set'] ?? item['map'];
  if (!isObject(set)) return undefined;
  const name = SET_NAMES.find((known) => known === set['name']);
  const elements = textsOf(set['elem']);
  return name === undefined || elements === undefined ? undefined : { name, elements: elements.sort() };
}

function steady(key: string, value: unknown): unknown {
  return VOLATILE.has(key) ? undefined : value;
}

function textsOf(elements: unknown): string[] | undefined {
  if (elements === undefined) return [];
  if (!Array.isArray(elements)) return undefined;
  const texts = elements.map(textOf);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function textOf(element: unknown): string | undefined {
  if (!Array.isArray(element)) return keyText(element);
  const [key, value] = element.map(keyText);
  return key === undefined || value === undefined || element.length !== 2 ? undefined : `${key} : ${value}`;
}

function keyText(key: unknown): string | undefined {
  if (typeof key === 'string' || typeof key === 'number') return String(key);
  if (!isObject(key)) return undefined;
  if (isObject(key['prefix'])) return `${key['prefix']['addr']}/${key['prefix']['len']}`;
  if (!Array.isArray(key['concat'])) return undefined;
  const parts = key['concat'].map(keyText);
  return parts.every((part) => part !== undefined) ? parts.join(' . ') : undefined;
}

function withoutElements(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).map(([kind, set]) => [kind, isObject(set) ? { ...set, elem: undefined } : set]));
}
