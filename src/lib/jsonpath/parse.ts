/** A template: text, paths in braces, and ranges. */
import { parsePath } from './parse-path.ts';
import { Scanner } from './scanner.ts';
import type { JsonPathTemplate, Part, Steps } from './template.ts';

/** Ranges within ranges. */
const MAX_RANGE_DEPTH = 20;
/** Nobody writes more; a template walks the value once per path. */
const MAX_CHARACTERS = 16 * 1024;

/** As `kubectl -o jsonpath=` reads it: what is outside of braces is text. */
export function parseJsonPathTemplate(source: string): JsonPathTemplate {
  return templateOf(source, parseParts(scannerOf(source), 0));
}

/** As `--sort-by`, `wait --for=jsonpath` and printer columns read it: braces and the first dot may be left out. */
export function parseJsonPath(source: string): JsonPathTemplate {
  if (source.includes('{')) return parseJsonPathTemplate(source);
  const scanner = scannerOf(source);
  if (source.trim() === '') throw scanner.error('expected a path such as .metadata.name');
  const steps = parsePath(scanner, { filterDepth: 0, mayBeginBare: true });
  if (!scanner.atEnd) throw scanner.error('expected . or [ or the end');
  return templateOf(source, [{ kind: 'path', steps }]);
}

function scannerOf(source: string): Scanner {
  const scanner = new Scanner(source.slice(0, MAX_CHARACTERS));
  if (source.length > MAX_CHARACTERS) throw scanner.error(`expected at most ${MAX_CHARACTERS} characters`, MAX_CHARACTERS);
  return scanner;
}

function templateOf(source: string, parts: readonly Part[]): JsonPathTemplate {
  const [only] = parts;
  return { source, parts, fields: parts.length === 1 && only?.kind === 'path' ? fieldNames(only.steps) : undefined };
}

function fieldNames(steps: Steps): readonly string[] | undefined {
  const names: string[] = [];
  for (const step of steps) {
    if (step.kind !== 'field') return undefined;
    names.push(step.name);
  }
  return names;
}

/** Up to the end of the template, or of the range that it is the body of. */
function parseParts(scanner: Scanner, depth: number): Part[] {
  const parts: Part[] = [];
  while (!scanner.atEnd) {
    const text = textUntilBrace(scanner);
    if (text !== '') parts.push({ kind: 'text', text });
    const part = scanner.accept('{') ? parseAction(scanner, depth) : undefined;
    if (part === 'end') return parts;
    if (part) parts.push(part);
  }
  if (depth > 0) throw scanner.error('expected {end} after {range}');
  return parts;
}

/** What stands in braces, the opening one being read. */
function parseAction(scanner: Scanner, depth: number): Part | 'end' {
  scanner.skipBlanks();
  if (acceptWord(scanner, 'range')) return parseRange(scanner, depth);
  if (!acceptWord(scanner, 'end')) return parsePathPart(scanner);
  if (depth === 0) throw scanner.error('expected a range before {end}');
  closeBrace(scanner);
  return 'end';
}

function textUntilBrace(scanner: Scanner): string {
  let text = '';
  while (!scanner.atEnd && scanner.peek() !== '{') text += scanner.next();
  return text;
}

/** `range` is a word of the language, `ranges` and `range.x` begin a path. */
function acceptWord(scanner: Scanner, word: string): boolean {
  return [' ', '\t', '}'].some((end) => scanner.startsWith(`${word}${end}`)) && scanner.accept(word);
}

function parseRange(scanner: Scanner, depth: number): Part {
  if (depth >= MAX_RANGE_DEPTH) throw scanner.error(`expected at most ${MAX_RANGE_DEPTH} ranges within each other`);
  const steps = parsePath(scanner, { filterDepth: 0, mayBeginBare: true });
  closeBrace(scanner);
  return { kind: 'range', steps, body: parseParts(scanner, depth + 1) };
}

function parsePathPart(scanner: Scanner): Part {
  const steps = parsePath(scanner, { filterDepth: 0, mayBeginBare: true });
  closeBrace(scanner);
  return { kind: 'path', steps };
}

function closeBrace(scanner: Scanner): void {
  scanner.skipBlanks();
  if (!scanner.accept('}')) throw scanner.error('expected . or [ or }');
}
