/** Looking through notes: in the order of their paths, some at a time, until enough is found. */
import { InvalidError } from '#lib/errors.ts';
import { readText } from './file.ts';
import { frontmatterOf, tagsOf } from './frontmatter.ts';
import { everyText, LINE_END, type Match, type Matcher, plainMatcher } from './matcher.ts';
import type { PatternRunner } from './pattern-runner.ts';
import type { Found } from './tree.ts';
import type { SearchQuery, VaultHit } from './vault.ts';

const MAX_PATTERN = 1_024;
const DEFAULT_HITS = 20;
const MAX_HITS = 100;
const CONTEXT_LINES = 2;
/** A line is shown, not the file that somebody wrote without line ends. */
const MAX_LINE = 1_000;
const BATCH_CHARACTERS = 512 * 1024;
const BATCH_FILES = 64;

export interface SearchResult {
  readonly hits: readonly VaultHit[];
  readonly isCut: boolean;
}

interface Text {
  readonly path: string;
  readonly content: string;
}

export async function search(
  notes: AsyncIterable<Found>,
  query: SearchQuery,
  { patterns, signal }: { readonly patterns: PatternRunner; readonly signal?: AbortSignal | undefined },
): Promise<SearchResult> {
  checkQuery(query);
  const limit = query.limit ?? DEFAULT_HITS;
  const matcher = await matcherOf(query, patterns);
  try {
    const hits: VaultHit[] = [];
    for await (const texts of batches(notes, query.tag, signal)) {
      // One more than is shown tells whether there is more.
      const contents = texts.map(({ content }) => content);
      const matches = await matcher.match(contents, limit + 1 - hits.length);
      hits.push(...matches.map((match) => toHit(texts, match)));
      if (hits.length > limit) return { hits: hits.slice(0, limit), isCut: true };
    }
    return { hits, isCut: false };
  } finally {
    await matcher.close();
  }
}

function checkQuery({ pattern, limit = DEFAULT_HITS, tag }: SearchQuery): void {
  if (pattern.length > MAX_PATTERN)
    throw new InvalidError(`the pattern has ${pattern.length} characters; at most ${MAX_PATTERN} are accepted`);
  if (pattern === '' && !tag) throw new InvalidError('search for what? Give a pattern or a tag');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_HITS) {
    throw new InvalidError(`limit is ${limit}; a whole number from 1 to ${MAX_HITS} is accepted`);
  }
}

async function matcherOf({ pattern, isRegex = false }: SearchQuery, patterns: PatternRunner): Promise<Matcher> {
  if (pattern === '') return everyText;
  return isRegex ? patterns.open(pattern) : plainMatcher(pattern);
}

async function* batches(notes: AsyncIterable<Found>, tag: string | undefined, signal: AbortSignal | undefined): AsyncGenerator<Text[]> {
  let texts: Text[] = [];
  let characters = 0;
  let looked = 0;
  for await (const { folder, name, path } of notes) {
    signal?.throwIfAborted();
    // Small files are read at once; others get their turn between them.
    if (++looked % BATCH_FILES === 0) await new Promise(setImmediate);
    const file = await readText(folder, name).catch(() => undefined);
    // Gone meanwhile, or nothing that can be read: then it holds nothing that can be found.
    if (!file || !hasTag(file.content, tag)) continue;
    texts.push({ path, content: file.content });
    characters += file.content.length;
    if (characters < BATCH_CHARACTERS && texts.length < BATCH_FILES) continue;
    yield texts;
    texts = [];
    characters = 0;
  }
  if (texts.length > 0) yield texts;
}

function hasTag(content: string, tag: string | undefined): boolean {
  return !tag || tagsOf(frontmatterOf(content)).includes(tag.replace(/^#/, ''));
}

function toHit(texts: readonly Text[], { text, line }: Match): VaultHit {
  const { path, content } = texts[text] ?? { path: '', content: '' };
  const lines = content.split(LINE_END);
  const context = lines.slice(Math.max(0, line - CONTEXT_LINES), line + CONTEXT_LINES + 1).map(shortened);
  return { path, line: line + 1, text: shortened(lines[line] ?? ''), context };
}

function shortened(line: string): string {
  // Never half a character.
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, '')}...`;
}
