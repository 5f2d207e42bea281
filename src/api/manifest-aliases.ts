/**
 * What the aliases of a YAML document stand for, and whether that can be written out. A few lines of aliases of aliases are a text
 * without end, so everything they stand for together has to fit where a whole document has to.
 */
import { type Alias, type Document, isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node, type Pair } from 'yaml';

export type Sources = ReadonlyMap<Alias, Node>;

export interface AliasProblem {
  readonly offset: number;
  readonly message: string;
}

export interface Aliases {
  readonly sources: Sources;
  readonly problem: AliasProblem | undefined;
}

export const NO_ALIASES: Aliases = { sources: new Map(), problem: undefined };
const TOO_LARGE = 'aliases make this more than 1 MiB; write out less, or refer to smaller parts';

export function followAliases({ contents }: Document, maxSize: number): Aliases {
  const walk: Walk = { anchors: new Map(), sources: new Map(), sizes: new Map(), maxSize, total: 0, problem: undefined };
  sizeOf(contents, walk);
  return walk;
}

interface Walk {
  /** An anchor may be set again; an alias means the last one before it. */
  readonly anchors: Map<string, Node>;
  readonly sources: Map<Alias, Node>;
  readonly sizes: Map<Node, number>;
  readonly maxSize: number;
  total: number;
  problem: AliasProblem | undefined;
}

function sizeOf(node: unknown, walk: Walk): number {
  if (isPair(node)) return sizeOfPair(node, walk);
  if (isAlias(node)) return sizeOfAlias(node, walk);
  if (!isNode(node)) return 0;
  if (node.anchor) walk.anchors.set(node.anchor, node);
  let size = 1;
  if (isCollection(node)) for (const item of node.items) size += sizeOf(item, walk);
  else if (node.range) size += node.range[1] - node.range[0];
  if (node.anchor) walk.sizes.set(node, size);
  return size;
}

function sizeOfPair(pair: Pair, walk: Walk): number {
  const size = sizeOf(pair.key, walk) + sizeOf(pair.value, walk);
  if (isMergeKey(pair.key) && !mergedInto(pair, walk.sources).every(isMap)) complain(pair.key, '<< takes a map or a list of maps', walk);
  return size;
}

function sizeOfAlias(alias: Alias, walk: Walk): number {
  const source = walk.anchors.get(alias.source);
  // The parser has complained about it already.
  if (!source) return 0;
  walk.sources.set(alias, source);
  const size = walk.sizes.get(source);
  if (size === undefined) complain(alias, `*${alias.source} stands inside what it stands for; write it out`, walk);
  walk.total += size ?? 0;
  if (walk.total > walk.maxSize) complain(alias, TOO_LARGE, walk);
  return size ?? 0;
}

function complain(node: unknown, message: string, walk: Walk): void {
  walk.problem ??= { offset: (isNode(node) ? node.range?.[0] : undefined) ?? 0, message };
}

export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol' && key.value.description === '<<';
}

/** What `<<: …` takes fields from; the first that has one counts. */
export function mergedInto({ value }: Pair, sources: Sources): readonly unknown[] {
  const given = resolved(value, sources);
  return isSeq(given) ? given.items.map((item) => resolved(item, sources)) : [given];
}

export function resolved(node: unknown, sources: Sources): unknown {
  return isAlias(node) ? sources.get(node) : node;
}
