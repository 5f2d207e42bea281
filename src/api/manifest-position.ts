/** Where in the text a field is written: also one that an alias or a merge brought to where it is read. */
import { type Document, isMap, isNode, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { JsonPath } from '#lib/json.ts';
import { isMergeKey, mergedInto, resolved, type Sources } from './manifest-aliases.ts';

/** Of the key, not of the value: that is where a person looks. Of a missing field, that of its nearest parent. */
export function offsetOf({ contents }: Document, path: JsonPath, sources: Sources): number | undefined {
  let node: unknown = contents;
  let offset = contents?.range?.[0];
  for (const segment of path) {
    const member = memberOf(resolved(node, sources), segment, sources);
    if (!member) break;
    node = member.value;
    offset = isNode(member.place) && member.place.range ? member.place.range[0] : offset;
  }
  return offset;
}

interface Member {
  readonly value: unknown;
  /** What shows where it stands. */
  readonly place: unknown;
}

function memberOf(node: unknown, segment: string | number, sources: Sources): Member | undefined {
  if (isMap(node)) return fieldOf(node, String(segment), sources);
  const item = isSeq(node) && typeof segment === 'number' ? node.items[segment] : undefined;
  return item === undefined ? undefined : { value: item, place: item };
}

function fieldOf({ items }: YAMLMap, name: string, sources: Sources): Member | undefined {
  const own = items.find(({ key }) => isScalar(key) && !isMergeKey(key) && String(key.value) === name);
  if (own) return { value: own.value, place: own.key };
  for (const merge of items.filter(({ key }) => isMergeKey(key))) {
    for (const source of mergedInto(merge, sources)) {
      const found = isMap(source) ? fieldOf(source, name, sources) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}
