/** YAML text as documents that remember where every field stands, so that every complaint can name a line. */
import { type Document, isNode, isScalar, LineCounter, parseAllDocuments, type YAMLError } from 'yaml';
import { messageOf } from '#lib/errors.ts';
import { formatPath, isObject, type JsonPath } from '#lib/json.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface TextProblem extends Position {
  readonly message: string;
}

export interface ManifestDocument {
  readonly value: Record<string, unknown>;
  /** Where a field stands; for a missing one, where its nearest parent does. */
  locate(path: JsonPath): Position;
}

export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  readonly problems: readonly TextProblem[];
}

export const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Enough for every honest use of anchors; a bomb needs millions. */
const MAX_ALIASES = 100;
/** Far more than any schema has, far less than would exhaust the stack of whoever walks the value. */
const MAX_DEPTH = 100;
const TOO_DEEP = `nested too deeply; at most ${MAX_DEPTH} levels are accepted`;
const START: Position = { line: 1, column: 1 };

export function parseManifest(text: string): Manifest {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    return failed({ ...START, message: `too large: ${Buffer.byteLength(text)} bytes; at most ${MAX_DOCUMENT_BYTES} (1 MiB) are accepted` });
  }
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
    const found = [...documents].filter((document) => !isEmpty(document) || document.errors.length > 0);
    const problems = found.flatMap((document) => document.errors.map((error) => toTextProblem(error, text, lines)));
    return problems.length > 0 ? { documents: [], problems } : toManifest(found, lines);
  } catch (error) {
    return failed({ ...START, message: isStackExhausted(error) ? TOO_DEEP : messageOf(error) });
  }
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function isStackExhausted(error: unknown): boolean {
  return error instanceof RangeError && /stack/i.test(error.message);
}

function toManifest(documents: readonly Document[], lines: LineCounter): Manifest {
  const found: ManifestDocument[] = [];
  const problems: TextProblem[] = [];
  for (const document of documents) {
    const locate = (path: JsonPath) => positionOf(document, path, lines);
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
      const oddity = oddityIn(value, []);
      if (oddity) problems.push({ ...locate(oddity.path), message: oddity.message });
      else if (isObject(value)) found.push({ value, locate });
      else problems.push({ ...locate([]), message: 'expected a resource: a mapping with apiVersion, kind, metadata and spec' });
    } catch (error) {
      problems.push({ ...START, message: isStackExhausted(error) ? TOO_DEEP : messageOf(error) });
    }
  }
  return { documents: found, problems };
}

interface Oddity {
  readonly path: JsonPath;
  readonly message: string;
}

/** The first thing that YAML can say and JSON cannot: it would not come back from the journal as it went in. */
function oddityIn(value: unknown, path: JsonPath): Oddity | undefined {
  if (path.length > MAX_DEPTH) return { path: path.slice(0, 1), message: TOO_DEEP };
  if (!isPlain(value)) {
    return { path, message: `${formatPath(path)} is not plain data; only text, numbers, true, false, null, lists and maps are accepted` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const at = [...path, key];
    if (key === '__proto__') return { path: at, message: `${formatPath(at)}: __proto__ cannot be a key; choose another one` };
    const oddity = oddityIn(member, at);
    if (oddity) return oddity;
  }
  return undefined;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

function positionOf(document: Document, path: JsonPath, lines: LineCounter): Position {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsetOf(document, path.slice(0, length));
    if (offset !== undefined) return toPosition(offset, lines);
  }
  return START;
}

/** Of the key, not of the value: that is where a person looks. */
function offsetOf(document: Document, path: JsonPath): number | undefined {
  const key = path.at(-1);
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  if (isObject(parent) && Array.isArray(parent['items']) && typeof key === 'string') {
    for (const pair of parent['items'] as { key?: unknown }[]) {
      if (isNode(pair.key) && 'value' in pair.key && String(pair.key.value) === key) return pair.key.range?.[0];
    }
    return undefined;
  }
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}

function toTextProblem(error: YAMLError, text: string, lines: LineCounter): TextProblem {
  const position = toPosition(error.pos[0], lines);
  if (error.code === 'DUPLICATE_KEY') {
    const key = /^[^:\s]*/.exec(text.slice(error.pos[0]))?.[0] ?? '';
    return { ...position, message: `duplicate key ${JSON.stringify(key)}; keep one of them` };
  }
  if (error.code === 'TAB_AS_INDENT') return { ...position, message: 'a tab cannot indent YAML; use spaces' };
  if (error.code === 'RESOURCE_EXHAUSTION') return { ...position, message: TOO_DEEP };
  return { ...position, message: error.message };
}

function toPosition(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function failed(problem: TextProblem): Manifest {
  return { documents: [], problems: [problem] };
}
