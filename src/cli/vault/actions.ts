/** What `agentiso vault` asks the daemon, and how the answers look. */
import { askDesk } from '#client/desk.ts';
import { AgentisoError } from '#lib/errors.ts';
import { type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';
import { readSource } from '../write/read-source.ts';

interface Entries {
  readonly entries: readonly { readonly path: string; readonly size: number; readonly modified: string }[];
  readonly isCut: boolean;
}

interface Hits {
  readonly hits: readonly { readonly path: string; readonly line: number; readonly text: string; readonly context: readonly string[] }[];
  readonly isCut: boolean;
}

interface Note {
  readonly path: string;
  readonly content: string;
  readonly version: string;
}

export async function listNotes(path: string, options: OptionValues, { connection, signal, out, err }: Session): Promise<number> {
  const query = { recursive: options['recursive'] === true ? true : undefined };
  const found = await askDesk<Entries>(connection, { method: 'GET', path: addressOf('folders', path), query, signal });
  if (options['output'] === 'json') out(toJson(found));
  else if (found.entries.length === 0) err('No notes found.\n');
  else out(alignLines([['PATH', 'BYTES', 'CHANGED'], ...found.entries.map(toRow)], TABLE_STYLE));
  if (found.isCut) err('There are more; name a folder to see its own.\n');
  return EXIT.ok;
}

function toRow({ path, size, modified }: Entries['entries'][number]): string[] {
  return [shown(path), path.endsWith('/') ? '-' : String(size), modified];
}

export async function printNote(path: string, options: OptionValues, { connection, signal, out }: Session): Promise<number> {
  const note = await askDesk<Note>(connection, { method: 'GET', path: addressOf('notes', path), signal });
  out(options['output'] === 'json' ? toJson(note) : note.content);
  return EXIT.ok;
}

export async function writeNote(path: string, options: OptionValues, { connection, signal, out }: Session): Promise<number> {
  if (options['append'] === true && options['prepend'] === true) throw new UsageError('either --append or --prepend');
  const mode = options['append'] === true ? 'append' : options['prepend'] === true ? 'prepend' : 'overwrite';
  const file = text(options['filename']) ?? '-';
  const content = toText(await readSource(file, signal), file);
  const body = { content, mode, ifVersion: text(options['ifVersion']) };
  const written = await askDesk<Omit<Note, 'content'>>(connection, { method: 'PUT', path: addressOf('notes', path), body, signal });
  out(options['output'] === 'json' ? toJson(written) : `${shown(written.path)} written, version ${written.version}\n`);
  return EXIT.ok;
}

export async function removeNote(path: string, { connection, signal, out }: Session): Promise<number> {
  const query = { confirm: true };
  const { path: removed } = await askDesk<{ path: string }>(connection, {
    method: 'DELETE',
    path: addressOf('notes', path),
    query,
    signal,
  });
  out(`${shown(removed)} removed\n`);
  return EXIT.ok;
}

/** Exit code 1 when nothing was found, as grep has it. */
export async function searchNotes(pattern: string, options: OptionValues, { connection, signal, out, err }: Session): Promise<number> {
  const query = {
    pattern,
    regex: options['regex'] === true ? true : undefined,
    path: text(options['in']),
    tag: text(options['tag']),
    limit: text(options['limit']),
  };
  const found = await askDesk<Hits>(connection, { method: 'GET', path: '/vault/search', query, signal });
  if (options['output'] === 'json') out(toJson(found));
  else out(found.hits.map(({ path, line, text: words }) => `${shown(path)}:${line}: ${shown(words)}\n`).join(''));
  if (found.isCut) err('There is more; narrow it with --in or --tag, or raise --limit.\n');
  return found.hits.length > 0 ? EXIT.ok : EXIT.failure;
}

/** Slashes stay: they are the folders. What leads out would be another address, so it is refused here in the words of the vault. */
function addressOf(place: string, path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) throw outside(path);
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return ['/vault', place, ...names.map(encodeURIComponent)].join('/');
}

function outside(path: string): AgentisoError {
  return new AgentisoError('Forbidden', `${path} leads out of the vault`, { hint: 'give a path inside it, such as guides/style.md' });
}

function toText(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new AgentisoError('Invalid', `${file === '-' ? 'standard input' : file} is not text in UTF-8`, { cause: error });
  }
}

/** Notes are written by anybody: what would move the cursor is shown as a question mark. */
function shown(words: string): string {
  return words.replace(/\p{Cc}/gu, (character) => (character === '\t' ? character : '?'));
}
