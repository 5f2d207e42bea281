/** A body in YAML: one document of plain data. Duplicate keys are no error here; whoever decodes strictly asks for them. */
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { messageOf } from '#lib/errors.ts';
import { type Duplicate, formatSteps, MAX_DUPLICATES } from './duplicates.ts';
import { MAX_ALIASES, problemIn, TOO_DEEP } from './limits.ts';

export interface YamlBody {
  readonly value: unknown;
  readonly duplicates: () => readonly Duplicate[];
}

/** Throws an Error whose message says what is wrong, with the line if there is one. */
export function parseYamlBody(text: string): YamlBody {
  const lines = new LineCounter();
  const document = parsed(text, lines);
  const [error] = document.errors;
  if (error) throw new Error(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  const value = plainValue(document);
  const problem = problemIn(value);
  if (problem) throw new Error(`yaml: ${problem}`);
  return { value, duplicates: () => duplicatesInYaml(document, lines) };
}

function parsed(text: string, lines: LineCounter): Document {
  try {
    return parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error', uniqueKeys: false });
  } catch (error) {
    throw readable(error);
  }
}

function plainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw readable(error);
  }
}

function readable(error: unknown): Error {
  const isStack = error instanceof RangeError && /stack/i.test(error.message);
  return new Error(`yaml: ${isStack ? TOO_DEEP : messageOf(error)}`, { cause: error });
}

interface Search {
  readonly lines: LineCounter;
  readonly found: Duplicate[];
}

/** Called only on what became a value, so it is not nested deeply. */
function duplicatesInYaml({ contents }: Document, lines: LineCounter): readonly Duplicate[] {
  const search: Search = { lines, found: [] };
  visit(contents, [], search);
  return search.found;
}

function visit(node: unknown, path: readonly (string | number)[], search: Search): void {
  if (isSeq(node)) for (const [index, item] of node.items.entries()) visit(item, [...path, index], search);
  else if (isMap(node)) visitPairs(node.items, path, search);
}

function visitPairs(pairs: readonly Pair[], path: readonly (string | number)[], search: Search): void {
  const keys = new Set<string>();
  for (const pair of pairs) {
    const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
    const at = [...path, key];
    if (keys.has(key) && search.found.length < MAX_DUPLICATES)
      search.found.push({ path: formatSteps(at), key, line: lineOf(pair, search) });
    keys.add(key);
    visit(pair.value, at, search);
  }
}

/** Of the value, as Go counts it. */
function lineOf({ key, value }: Pair, { lines }: Search): number {
  const node: Node | undefined = [value, key].find((candidate): candidate is Node => isNode(candidate) && candidate.range !== undefined);
  return lines.linePos(node?.range?.[0] ?? 0).line;
}
