/** What `-f` names, as documents that know where in which file they stand: files, folders, standard input; YAML or JSON; Lists opened. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '#api/manifest.ts';
import { opened, type SourceDocument } from '#client/write/source-document.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { readSource } from './read-source.ts';

export interface Documents {
  readonly documents: readonly SourceDocument[];
  /** `file:line:column: what is wrong` */
  readonly problems: readonly string[];
}

export interface DocumentSources {
  readonly filenames: readonly string[];
  readonly isRecursive: boolean;
  /** Ends the waiting for a pipe or for standard input. */
  readonly signal?: AbortSignal;
}

export const NO_OBJECTS = 'no objects passed';

export async function readDocuments({ filenames, isRecursive, signal }: DocumentSources): Promise<Documents> {
  const { parseManifest } = await import('#api/manifest.ts');
  const documents: SourceDocument[] = [];
  const problems: string[] = [];
  for (const file of filenames.flatMap((path) => filesIn(path, isRecursive))) {
    const manifest: Manifest = parseManifest(await readBytes(file, signal));
    problems.push(...manifest.problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`));
    documents.push(...manifest.documents.flatMap((document) => opened(document, file)));
  }
  if (documents.length === 0 && problems.length === 0) problems.push(`${NO_OBJECTS}: nothing in ${filenames.join(', ')}`);
  return { documents, problems };
}

function filesIn(path: string, isRecursive: boolean): string[] {
  if (path === '-' || !statOf(path).isDirectory()) return [path];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return isRecursive ? filesIn(inner, true) : [];
    return /\.(ya?ml|json)$/.test(entry.name) ? [inner] : [];
  });
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    throw new AgentisoError('NotFound', `the path ${JSON.stringify(path)} does not exist`, {
      cause: error,
      hint: 'give a YAML or JSON file, a folder of them, or - for standard input',
    });
  }
}

async function readBytes(path: string, signal: AbortSignal | undefined): Promise<Buffer> {
  try {
    return await readSource(path, signal);
  } catch (error) {
    if (error instanceof AgentisoError) throw error;
    throw new AgentisoError('IoError', `${path}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
