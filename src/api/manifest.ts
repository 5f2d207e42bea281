/** YAML text as documents that remember where every field stands, so that every complaint can name a line. */
import { type Document, isScalar, LineCounter, parseAllDocuments, type YAMLError } from 'yaml';
import { messageOf } from '#lib/errors.ts';
import { formatPath, isObject, type JsonPath } from '#lib/json.ts';
import { followAliases, NO_ALIASES } from './manifest-aliases.ts';
import { decodeUtf8 } from './manifest-bytes.ts';
import { offsetOf } from './manifest-position.ts';
import { plainWords } from './manifest-words.ts';
import { withPriorities } from './priority-words.ts';

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
/** Far more than any schema has, far less than would exhaust the stack of whoever walks the value. */
const MAX_DEPTH = 100;
const TOO_DEEP = `nested too deeply; at most ${MAX_DEPTH} levels are accepted`;
const START: Position = { line: 1, column: 1 };

export function parseManifest(source: string | Buffer): Manifest {
  const text = typeof source === 'string' ? source : decodeUtf8(source);
  if (typeof text !== 'string') return failed(text);
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    return failed({ ...START, message: `too large: ${Buffer.byteLength(text)} bytes; at most ${MAX_DOCUMENT_BYTES} (1 MiB) are accepted` });
  }
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent', merge: true });
    const found = [...documents].filter((document) => !isEmpty(document) || document.errors.length > 0);
    const problems = found.flatMap((document) => document.errors.map((error) => toTextProblem(error, text, lines)));
    return problems.length > 0 ? { documents: [], problems } : toManifest(found, text, lines);
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

function toManifest(documents: readonly Document[], text: string, lines: LineCounter): Manifest {
  const found: ManifestDocument[] = [];
  const problems: TextProblem[] = [];
  const hasAliases = /&|<</.test(text);
  for (const document of documents) {
    try {
      const read = readDocument(document, hasAliases, lines);
      if ('value' in read) found.push(read);
      else problems.push(read);
    } catch (error) {
      problems.push({ ...START, message: isStackExhausted(error) ? TOO_DEEP : messageOf(error) });
    }
  }
  return { documents: found, problems };
}

function readDocument(document: Document, hasAliases: boolean, lines: LineCounter): ManifestDocument | TextProblem {
  const { sources, problem } = hasAliases ? followAliases(document, MAX_DOCUMENT_BYTES) : NO_ALIASES;
  if (problem) return { ...toPosition(problem.offset, lines), message: problem.message };
  const locate = (path: JsonPath) => toPosition(offsetOf(document, path, sources) ?? 0, lines);
  // What the aliases come to is known by now.
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  const oddity = oddityIn(value, []);
  if (oddity) return { ...locate(oddity.path), message: oddity.message };
  if (isObject(value)) return { value: withPriorities(value), locate };
  return { ...locate([]), message: 'expected a resource: a mapping with apiVersion, kind, metadata and spec' };
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

function toTextProblem(error: YAMLError, text: string, lines: LineCounter): TextProblem {
  const position = toPosition(error.pos[0], lines);
  if (error.code === 'DUPLICATE_KEY') {
    const key = /^[^:\s]*/.exec(text.slice(error.pos[0]))?.[0] ?? '';
    return { ...position, message: `duplicate key ${JSON.stringify(key)}; keep one of them` };
  }
  if (error.code === 'TAB_AS_INDENT') return { ...position, message: 'a tab cannot indent YAML; use spaces' };
  if (error.code === 'RESOURCE_EXHAUSTION') return { ...position, message: TOO_DEEP };
  return { ...position, message: plainWords(error.message) };
}

function toPosition(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function failed(problem: TextProblem): Manifest {
  return { documents: [], problems: [problem] };
}
