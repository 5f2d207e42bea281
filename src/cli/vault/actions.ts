/** What `agentiso vault` asks the daemon, and how the answers look. */
import * as notes from '#client/vault.ts';
import { AgentisoError } from '#lib/errors.ts';
import { type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';
import { readSource } from '../write/read-source.ts';

export async function listNotes(path: string, options: OptionValues, session: Session): Promise<number> {
  const { out, err } = session;
  const found = await notes.listNotes(session, path, options['recursive'] === true);
  if (options['output'] === 'json') out(toJson(found));
  else if (found.entries.length === 0) err('No notes found.\n');
  else out(alignLines([['PATH', 'BYTES', 'CHANGED'], ...found.entries.map(toRow)], TABLE_STYLE));
  if (found.isCut) err('There are more; name a folder to see its own.\n');
  return EXIT.ok;
}

function toRow({ path, size, modified }: notes.NoteEntries['entries'][number]): string[] {
  return [shown(path), path.endsWith('/') ? '-' : String(size), modified];
}

export async function printNote(path: string, options: OptionValues, session: Session): Promise<number> {
  const note = await notes.readNote(session, path);
  session.out(options['output'] === 'json' ? toJson(note) : note.content);
  return EXIT.ok;
}

export async function writeNote(path: string, options: OptionValues, session: Session): Promise<number> {
  if (options['append'] === true && options['prepend'] === true) throw new UsageError('either --append or --prepend');
  const mode = options['append'] === true ? 'append' : options['prepend'] === true ? 'prepend' : 'overwrite';
  const file = text(options['filename']) ?? '-';
  const content = toText(await readSource(file, session.signal), file);
  const written = await notes.writeNote(session, path, { content, mode, ifVersion: text(options['ifVersion']) });
  session.out(options['output'] === 'json' ? toJson(written) : `${shown(written.path)} written, version ${written.version}\n`);
  return EXIT.ok;
}

export async function removeNote(path: string, session: Session): Promise<number> {
  const { path: removed } = await notes.removeNote(session, path);
  session.out(`${shown(removed)} removed\n`);
  return EXIT.ok;
}

/** Exit code 1 when nothing was found, as grep has it. */
export async function searchNotes(pattern: string, options: OptionValues, session: Session): Promise<number> {
  const { out, err } = session;
  const limit = text(options['limit']);
  const found = await notes.searchNotes(session, {
    pattern,
    regex: options['regex'] === true ? true : undefined,
    path: text(options['in']),
    tag: text(options['tag']),
    limit: limit === undefined ? undefined : Number(limit),
  });
  if (options['output'] === 'json') out(toJson(found));
  else out(found.hits.map(({ path, line, text: words }) => `${shown(path)}:${line}: ${shown(words)}\n`).join(''));
  if (found.isCut) err('There is more; narrow it with --in or --tag, or raise --limit.\n');
  return found.hits.length > 0 ? EXIT.ok : EXIT.failure;
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
