/** YAML text as documents that remember where every field stands, so that every complaint can name a line. */
import { type Document, isNode, LineCounter, parseAllDocuments, type YAMLError } from 'yaml';
import { messageOf } from '#lib/errors.ts';
import { isObject, type JsonPath } from '#lib/json.ts';

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
const START: Position = { line: 1, column: 1 };

export function parseManifest(text: string): Manifest {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    return failed({ ...START, message: `too large: ${Buffer.byteLength(text)} bytes; at most ${MAX_DOCUMENT_BYTES} (1 MiB) are accepted` });
  }
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
    const found = [...documents].filter((document) => document.contents !== null || document.errors.length > 0);
    const problems = found.flatMap((document) => document.errors.map((error) => toTextProblem(error, text, lines)));
    return problems.length > 0 ? { documents: [], problems } : toManifest(found, lines);
  } catch (error) {
    const nested = error instanceof RangeError && /stack/i.test(error.message);
    return failed({ ...START, message: nested ? 'nested too deeply' : messageOf(error) });
  }
}

function toManifest(documents: readonly Document[], lines: LineCounter): Manifest {
  const found: ManifestDocument[] = [];
  const problems: TextProblem[] = [];
  for (const document of documents) {
    const locate = (path: JsonPath) => positionOf(document, path, lines);
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
      if (isObject(value)) found.push({ value, locate });
      else problems.push({ ...locate([]), message: 'expected a resource: a mapping with apiVersion, kind, metadata and spec' });
    } catch (error) {
      problems.push({ ...locate([]), message: messageOf(error) });
    }
  }
  return { documents: found, problems };
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
  return { ...position, message: error.message };
}

function toPosition(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function failed(problem: TextProblem): Manifest {
  return { documents: [], problems: [problem] };
}
