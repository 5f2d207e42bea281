/** New values in a person's own text: comments, order and formatting stay where the values did. */
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import { emitYaml } from './emit.ts';

export function rewriteText(text: string, value: JsonObject): string {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return emitYaml(value);
  patchMap(document, document.contents, value);
  const rewritten = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  // Whatever the text holds that this does not understand, the values must be right.
  return equalJson(parseDocument(rewritten).toJS(), value) ? rewritten : emitYaml(value);
}

function patchMap(document: Document, map: YAMLMap, value: JsonObject): void {
  for (const key of map.items.map((pair) => (isScalar(pair.key) ? pair.key.value : undefined))) {
    if (typeof key !== 'string' || value[key] === undefined) map.delete(key);
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const node = map.get(key, true) as Node | undefined;
    const patched = patch(document, node, member);
    if (patched !== node) map.set(key, patched);
  }
}

/** The node itself when it could be made to fit, else a new one. */
function patch(document: Document, node: Node | undefined, value: unknown): Node {
  if (isMap(node) && isObject(value)) {
    patchMap(document, node, value);
    return node;
  }
  if (isSeq(node) && Array.isArray(value)) {
    patchSeq(document, node, value);
    return node;
  }
  if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
    if (node.value !== value) {
      node.value = value;
      delete node.source;
    }
    return node;
  }
  return document.createNode(value);
}

/** Named entries keep their own text when the list around them changes. */
function patchSeq(document: Document, seq: YAMLSeq, list: readonly unknown[]): void {
  const old = seq.items as Node[];
  const byName = new Map(old.filter(isMap).map((node) => [node.get('name'), node as Node]));
  seq.items = list.map((item, index) => {
    const named = isObject(item) && typeof item['name'] === 'string' ? byName.get(item['name']) : undefined;
    return patch(document, named ?? (byName.size > 0 ? undefined : old[index]), item);
  });
}
