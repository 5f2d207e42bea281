/**
 * A set of fields, kept in its wire form (FieldsV1) all the time: `{"f:spec":{"f:count":{}}}`. A node without children is a member;
 * one with children is a member if it has the key `.`. The root is never a member: there `{}` is the empty set.
 * Nothing here changes its arguments, and what stays the same stays the same object. Keys begin with a letter and a colon,
 * so that none can be a name which every object inherits.
 */
import { compareElements } from './path-element.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const NO_FIELDS: FieldSet = Object.freeze({});
const SELF = '.';
const MEMBER = NO_FIELDS;
/** As an absent node: unlike an empty one it is no member. */
const NOTHING: FieldSet = Object.freeze({ [SELF]: undefined }) as unknown as FieldSet;

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  let out: Record<string, FieldSet> | undefined;
  for (const element in b) {
    const mine = a[element];
    const theirs = b[element];
    if (element === SELF || theirs === undefined) continue;
    const both = mine === undefined ? theirs : unionOfNodes(mine, theirs);
    if (both === mine) continue;
    out ??= { ...a };
    out[element] = both;
  }
  return out ?? a;
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const isOwn = isMember(a) || isMember(b);
  const both = union(a, b);
  return isOwn ? asMember(both) : both;
}

/** Members of both, node by node. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const element in b) {
    const mine = a[element];
    const theirs = b[element];
    if (element === SELF || mine === undefined || theirs === undefined) continue;
    const node = nodeOf(intersection(mine, theirs), isMember(mine) && isMember(theirs));
    if (node !== undefined) out[element] = node;
  }
  return out;
}

/** Without the members of b. What lies below a member of b stays, unless it is a member of b itself. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let out: Record<string, FieldSet> | undefined;
  for (const element in b) {
    const mine = a[element];
    const theirs = b[element];
    if (element === SELF || mine === undefined || theirs === undefined) continue;
    const rest = differenceOfNodes(mine, theirs);
    if (rest === mine) continue;
    out ??= { ...a };
    if (rest === undefined) delete out[element];
    else out[element] = rest;
  }
  return out ?? a;
}

function differenceOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const wasOwn = isMember(a);
  const isOwn = wasOwn && !isMember(b);
  const rest = difference(a, b);
  if (rest === a && isOwn === wasOwn) return a;
  return nodeOf(rest, isOwn);
}

/** Whether every member of a, those of `except` aside, is one of b. */
export function isCovered(a: FieldSet, b: FieldSet, except: FieldSet = NO_FIELDS): boolean {
  for (const element in a) {
    const node = a[element];
    if (element === SELF || node === undefined) continue;
    const other = b[element];
    const left = except[element];
    const isMissing = isMember(node) && !(left && isMember(left)) && !(other && isMember(other));
    if (isMissing || !isCovered(node, other ?? NOTHING, left ?? NO_FIELDS)) return false;
  }
  return true;
}

/** Whether a and b have no member in common, those of `except` aside. */
export function isDisjoint(a: FieldSet, b: FieldSet, except: FieldSet = NO_FIELDS): boolean {
  for (const element in a) {
    const node = a[element];
    const other = b[element];
    if (element === SELF || node === undefined || other === undefined) continue;
    const left = except[element];
    if (isMember(node) && isMember(other) && !(left && isMember(left))) return false;
    if (!isDisjoint(node, other, left ?? NO_FIELDS)) return false;
  }
  return true;
}

/** A node of these children (a `.` among them does not count), or none if it would say nothing. */
export function nodeOf(children: FieldSet, isOwn: boolean): FieldSet | undefined {
  const below = withoutSelf(children);
  if (isEmpty(below)) return isOwn ? MEMBER : undefined;
  return isOwn ? asMember(below) : below;
}

function withoutSelf(node: FieldSet): FieldSet {
  if (node[SELF] === undefined) return node;
  const { [SELF]: _, ...below } = node;
  return below;
}

function asMember(node: FieldSet): FieldSet {
  return isMember(node) ? node : { [SELF]: MEMBER, ...node };
}

/** A set under construction; only `insert` changes it. A node without children is always the same one: to ask a large node takes long. */
export interface FieldSetDraft {
  [element: string]: FieldSetDraft;
}

const LEAF = MEMBER as FieldSetDraft;

/** The empty path is the whole object, which nobody owns. */
export function insert(draft: FieldSetDraft, path: readonly string[]): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let at = draft;
  for (let index = 0; index < path.length - 1; index++) at = descend(at, path[index] ?? '');
  const node = at[last];
  if (node === undefined) at[last] = LEAF;
  else if (node !== LEAF) node[SELF] = LEAF;
}

function descend(at: FieldSetDraft, element: string): FieldSetDraft {
  const child = at[element];
  if (child !== undefined && child !== LEAF) return child;
  const grown: FieldSetDraft = child === undefined ? {} : { [SELF]: LEAF };
  at[element] = grown;
  return grown;
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set;
  for (const element of path) at = at?.[element];
  return at !== undefined && path.length > 0 && isMember(at);
}

/** Elements of the children in upstream's order. */
export function elementsOf(node: FieldSet): string[] {
  return Object.keys(node)
    .filter((element) => element !== SELF)
    .sort(compareElements);
}

/** The path of every member: those of a node first, then those further down. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): (readonly string[])[] {
  const elements = elementsOf(set);
  const here = elements.filter((element) => isMember(set[element] ?? NO_FIELDS)).map((element) => [...prefix, element]);
  return [...here, ...elements.flatMap((element) => pathsOf(set[element] ?? NO_FIELDS, [...prefix, element]))];
}

/**
 * The set as it is stored: keys in alphabetical order, as upstream writes them for custom resources, and one object for all leaves,
 * which are most of a set. Itself if it is so already.
 */
export function forStore(node: FieldSet): FieldSet {
  if (isForStore(node)) return node;
  const out: Record<string, FieldSet> = {};
  for (const key of Object.keys(node).sort()) {
    const child = node[key] ?? MEMBER;
    out[key] = isEmpty(child) ? MEMBER : forStore(child);
  }
  return out;
}

function isForStore(node: FieldSet): boolean {
  let last = '';
  for (const key in node) {
    const child = node[key] ?? MEMBER;
    if (key < last || (child !== MEMBER && (isEmpty(child) || !isForStore(child)))) return false;
    last = key;
  }
  return true;
}
