/** Paths in the vault: what is one, what belongs to whom. Always relative, `/` between names, never climbing. Pure. */
import { AgentisoError, InvalidError } from '#lib/errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_PATH_BYTES = 1_024;
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 32;
/** Control characters, and halves of characters, which no file name can hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\u0000-\u001f\u007f]|\p{Surrogate}/u;

/** The sub-folders that agentiso writes and nobody else. */
const GENERATED_FOLDERS: readonly string[] = ['tasks', 'cards'];
export const TEAM_FOLDERS: readonly string[] = ['cards', 'tasks', 'notes'];

/** The one spelling of a path; empty for the vault itself. */
export function parsePath(text: string): string {
  if (UNFIT.test(text)) throw new InvalidError(`${JSON.stringify(text)} is no path: it has characters that no file name can have`);
  if (text.startsWith('/')) throw outside(text);
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw outside(text);
  const hidden = names.find((name) => name.startsWith('.'));
  if (hidden !== undefined) throw new InvalidError(`${text}: names that begin with a dot, as ${hidden} does, are not part of the vault`);
  const path = names.join('/');
  if (
    names.length > MAX_DEPTH ||
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)
  ) {
    throw new InvalidError(`the path is too long: at most ${MAX_PATH_BYTES} bytes, ${MAX_NAME_BYTES} per name, ${MAX_DEPTH} folders`);
  }
  return path;
}

export function outside(path: string): AgentisoError {
  return new AgentisoError('Forbidden', `${path} leads out of the vault`, { hint: 'give a path inside it, such as guides/style.md' });
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

export function segmentsOf(path: string): string[] {
  return path === '' ? [] : path.split('/');
}

/** Whole names are compared: `teams/a` is not above `teams/a-b`. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

export function teamFolder(namespace: string, team: string): string {
  for (const name of [namespace, team]) {
    if (!LABEL.test(name)) throw new InvalidError(`${JSON.stringify(name)} is no name of a namespace or a team`);
  }
  return namespace === 'default' ? `teams/${team}` : `namespaces/${namespace}/teams/${team}`;
}

export interface TeamPlace {
  readonly namespace: string;
  readonly team: string;
  /** Below the team's folder; empty for the folder itself. */
  readonly rest: string;
}

/** Whose folder a path is in; undefined for what belongs to no team. */
export function teamPlaceOf(path: string): TeamPlace | undefined {
  const names = segmentsOf(path);
  if (names[0] === 'teams' && names[1] !== undefined) return { namespace: 'default', team: names[1], rest: names.slice(2).join('/') };
  const [first, namespace, teams, team] = names;
  if (first !== 'namespaces' || namespace === undefined || teams !== 'teams' || team === undefined) return undefined;
  return { namespace, team, rest: names.slice(4).join('/') };
}

export function isGenerated(path: string): boolean {
  const place = teamPlaceOf(path);
  return place !== undefined && GENERATED_FOLDERS.some((folder) => isAtOrBelow(place.rest, folder));
}

/** What is read, listed and searched: Markdown, and the cards of agents. */
export function isReadable(path: string): boolean {
  return path.endsWith('.md') || (path.endsWith('.json') && (teamPlaceOf(path)?.rest.startsWith('cards/') ?? false));
}

export function checkReadable(path: string): void {
  if (path === '') throw new InvalidError('which note? Give a path such as guides/style.md');
  if (!isReadable(path)) throw new InvalidError(`${path} is no note: notes end in .md`);
}
