/**
 * `/vault`: the notes for people. `/vault/notes/PATH` is a note, `/vault/folders/PATH` what is in a folder, `/vault/search` looks for words,
 * `/vault/follow/PATH` tells of changes.
 */
import { AgentisoError, InvalidError } from '#lib/errors.ts';
import { type Desk, type DeskAnswer, type DeskRequest, readersAndAdmins } from '#server/desk.ts';
import type { Vault } from '#vault/vault.ts';

const MODES = ['overwrite', 'append', 'prepend'] as const;

export function createVaultDesk(vault: Vault): Desk {
  return {
    may: readersAndAdmins,
    async answer(request) {
      const [place = '', ...names] = request.path.split('/');
      const path = names.join('/');
      if (place === 'notes') return noteAnswer(vault, path, request);
      if (request.method !== 'GET') throw new AgentisoError('Invalid', 'only notes can be changed', { hint: 'use /vault/notes/PATH' });
      if (place === 'folders') return json(await vault.list('everything', { path, recursive: isSet(request.query, 'recursive') }));
      if (place === 'follow') return { status: 200, lines: beginningAtOnce(await vault.follow('everything', path, request.signal)) };
      if (place === 'search') return json(await vault.search('everything', queryOf(request.query), request.signal));
      throw new AgentisoError('NotFound', `there is no /vault/${place}`, {
        hint: 'use /vault/notes/PATH, /vault/folders/PATH, /vault/follow/PATH or /vault/search',
      });
    },
  };
}

async function noteAnswer(vault: Vault, path: string, { method, query, fields }: DeskRequest): Promise<DeskAnswer> {
  switch (method) {
    case 'GET':
      return json(await vault.read('everything', path));
    case 'PUT': {
      const { content, ...options } = asked(await fields());
      return json(await vault.write('everything', path, content, options));
    }
    case 'DELETE':
      if (!isSet(query, 'confirm')) throw new InvalidError(`${path} would be gone for good; say confirm=true`);
      await vault.remove('everything', path);
      return json({ path });
    default:
      throw new InvalidError('a note is read by GET, written by PUT and removed by DELETE');
  }
}

function asked({ content, mode = 'overwrite', ifVersion, ...rest }: Readonly<Record<string, unknown>>) {
  const known = MODES.find((one) => one === mode);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new InvalidError(`unknown field ${unknown}; content, mode and ifVersion are accepted`);
  if (typeof content !== 'string') throw new InvalidError('content: Required value: the text of the note');
  if (!known) throw new InvalidError(`mode: Unsupported value: ${JSON.stringify(mode)}; ${MODES.join(', ')} are accepted`);
  if (ifVersion !== undefined && typeof ifVersion !== 'string') throw new InvalidError('ifVersion: the version that reading the note gave');
  return { content, mode: known, ...(ifVersion === undefined ? {} : { ifVersion }) };
}

function queryOf(query: URLSearchParams) {
  const [path, tag, limit] = ['path', 'tag', 'limit'].map((name) => query.get(name) ?? undefined);
  return {
    pattern: query.get('pattern') ?? '',
    isRegex: isSet(query, 'regex'),
    ...(path === undefined ? {} : { path }),
    ...(tag === undefined ? {} : { tag }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  };
}

/** One line when following has begun, one for each change. */
async function* beginningAtOnce(changes: AsyncIterable<void>): AsyncGenerator<object> {
  yield { following: true };
  for await (const _change of changes) yield { changed: true };
}

function isSet(query: URLSearchParams, name: string): boolean {
  return query.get(name) === 'true';
}

function json(value: unknown): DeskAnswer {
  return { status: 200, value };
}
