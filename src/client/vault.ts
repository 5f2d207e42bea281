/** `/vault` of our own daemon, typed: the notes that people and agents share, as an operator sees them. */
import { AgentisoError } from '#lib/errors.ts';
import { askDesk } from './desk.ts';
import type { Asking } from './messages.ts';

export interface VaultNote {
  readonly path: string;
  readonly content: string;
  /** Give it back as `ifVersion`. */
  readonly version: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
}

export interface NoteChange {
  readonly content: string;
  readonly mode?: 'overwrite' | 'append' | 'prepend' | undefined;
  readonly ifVersion?: string | undefined;
}

export interface NoteSearch {
  readonly pattern: string;
  readonly regex?: boolean | undefined;
  readonly path?: string | undefined;
  readonly tag?: string | undefined;
  readonly limit?: number | undefined;
}

export interface NoteHits {
  readonly hits: readonly { readonly path: string; readonly line: number; readonly text: string; readonly context: readonly string[] }[];
  readonly isCut: boolean;
}

export interface NoteEntries {
  readonly entries: readonly { readonly path: string; readonly size: number; readonly modified: string }[];
  readonly isCut: boolean;
}

export function readNote({ connection, signal }: Asking, path: string): Promise<VaultNote> {
  return askDesk(connection, { method: 'GET', path: addressOf('notes', path), signal });
}

export function writeNote(
  { connection, signal }: Asking,
  path: string,
  body: NoteChange,
): Promise<{ readonly path: string; readonly version: string }> {
  return askDesk(connection, { method: 'PUT', path: addressOf('notes', path), body, signal });
}

/** For good: whoever calls this has asked. */
export function removeNote({ connection, signal }: Asking, path: string): Promise<{ readonly path: string }> {
  return askDesk(connection, { method: 'DELETE', path: addressOf('notes', path), query: { confirm: true }, signal });
}

export function searchNotes({ connection, signal }: Asking, search: NoteSearch): Promise<NoteHits> {
  return askDesk(connection, { method: 'GET', path: '/vault/search', query: { ...search }, signal });
}

export function listNotes({ connection, signal }: Asking, path: string, isRecursive = false): Promise<NoteEntries> {
  const query = isRecursive ? { recursive: true } : {};
  return askDesk(connection, { method: 'GET', path: addressOf('folders', path), query, signal });
}

/** Slashes stay: they are the folders. What leads out would be another address, so it is refused here in the words of the vault. */
function addressOf(place: string, path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) {
    throw new AgentisoError('Forbidden', `${path} leads out of the vault`, { hint: 'give a path inside it, such as guides/style.md' });
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return ['/vault', place, ...names.map(encodeURIComponent)].join('/');
}
