/** New values in a person's own text: comments, order and formatting stay where the values did. */
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { emitYaml } from '#lib/emit-yaml.ts';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';

export function rewriteText(text: string, value: JsonObject): string {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return emitYaml(value);
  if (equalJson(document.toJS(), value)) return text;
  patchMap(document, document.contents, value);
  const written = document.toString({ lineWidth: 0, flowCollectionPadding: false, ...styleOf(text) });
  const rewritten = text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
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
      // A block for a text that begins or ends with space would not come back as it was.
      if (typeof value === 'string' && /^\s|[^\S\n]$|^$/.test(value)) node.type = 'QUOTE_DOUBLE';
    }
    return node;
  }
  return document.createNode(value);
}

/** Entries keep their own text when the list around them changes: found by name, else by what they say, else by their place. */
function patchSeq(document: Document, seq: YAMLSeq, list: readonly unknown[]): void {
  const old = seq.items as Node[];
  const byIdentity = new Map(old.map((node) => [identityOf(node.toJS(document)), node]));
  const kept = new Set(list.map((item) => byIdentity.get(identityOf(item))));
  const isSameLength = old.length === list.length;
  seq.items = list.map((item, index) => {
    const inPlace = isSameLength && old[index] && !kept.has(old[index]) ? old[index] : undefined;
    return patch(document, byIdentity.get(identityOf(item)) ?? inPlace, item);
  });
}

function identityOf(item: unknown): string {
  return isObject(item) && typeof item['name'] === 'string' ? `name ${item['name']}` : JSON.stringify(item);
}

const UNINDENTED_LIST = /^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*\1- /m;
const FIRST_INDENT = /^[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*( +)[^\s#-]/m;

/** How the person indents, as far as a writer can be told to do the same. */
function styleOf(text: string): { indent: number; indentSeq: boolean } {
  return { indent: FIRST_INDENT.exec(text)?.[1]?.length ?? 2, indentSeq: !UNINDENTED_LIST.test(text) };
}
