/** `agentiso://vault/{+path}`: the notes that people and agents share. */
import { askDesk, deskLines } from '#client/desk.ts';
import { isCode, NotFoundError } from '#lib/errors.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import type { Asking, Resource } from '../resource.ts';
import { fillUri } from '../uri-template.ts';
import { type Source, together } from './changes.ts';
import { beginning } from './complete.ts';

interface Entries {
  readonly entries: readonly { readonly path: string; readonly size: number }[];
}

const uriTemplate = 'agentiso://vault/{+path}';

export const vaultNoteResource: Resource = {
  uriTemplate,
  name: 'vault-note',
  title: 'Note of the vault',
  description:
    'A note that people and agents share, as Markdown. teams/TEAM/notes is what the agents of a team write, teams/TEAM/tasks its board as files, everything outside of teams and namespaces is for all. A list has at most 1,000 notes.',
  mimeType: 'text/markdown',
  async list(asking) {
    return (await notePaths(asking)).map((path) => ({ uri: fillUri(uriTemplate, { path }), name: path, mimeType: mimeTypeOf(path) }));
  },
  async read({ path = '' }, { connection, signal }) {
    try {
      const { content } = await askDesk<{ content: string }>(connection, { method: 'GET', path: placeOf('notes', path), signal });
      // A card is JSON, which has no remarks.
      return mimeTypeOf(path) === 'application/json' ? content : `<!-- ${QUOTED} -->\n${content}`;
    } catch (error) {
      if (!isCode(error, 'NotFound')) throw error;
      throw new NotFoundError(`there is no note ${path}`, { hint: 'list the resources for the notes that are there', cause: error });
    }
  },
  changes: ({ path = '' }, asking) => together([followedNote(path)], asking),
  async complete(name, typed, asking) {
    return name === 'path' ? beginning(typed, await notePaths(asking)) : [];
  },
};

async function notePaths({ connection, signal }: Asking): Promise<readonly string[]> {
  const call = { method: 'GET', path: '/vault/folders', query: { recursive: true }, signal } as const;
  return (await askDesk<Entries>(connection, call)).entries.map(({ path }) => path);
}

/** One line when it has begun, and one for each change. */
function followedNote(path: string): Source {
  return async function* ({ connection, signal }) {
    for await (const _line of deskLines(connection, { method: 'GET', path: placeOf('follow', path), signal })) yield;
  };
}

/** Slashes are the folders; everything else is encoded. */
function placeOf(place: string, path: string): string {
  return `/vault/${place}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

function mimeTypeOf(path: string): string {
  return path.endsWith('.json') ? 'application/json' : 'text/markdown';
}
