import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { agentIdentity, personIdentity } from '#server/auth/identity.ts';
import type { Desk } from '#server/desk.ts';
import { openVault } from '#vault/open-vault.ts';
import type { Vault } from '#vault/vault.ts';
import { createVaultDesk } from './vault-desk.ts';

let home: string;
let vault: Vault;
let desk: Desk;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-vault-desk-'));
  vault = await openVault({ home, log: silentLogger });
  desk = createVaultDesk(vault);
});
afterEach(async () => {
  await vault.close();
  rmSync(home, { recursive: true });
});

const ask = (method: string, path: string, { query = '', fields = {} }: { query?: string; fields?: Record<string, unknown> } = {}) =>
  desk.answer({
    method,
    path,
    query: new URLSearchParams(query),
    contentType: 'application/json',
    identity: personIdentity('admin', 'ada'),
    signal: new AbortController().signal,
    body: async () => Buffer.alloc(0),
    fields: async () => fields,
  });

it('writes, reads, lists, searches and removes', async () => {
  const written = await ask('PUT', 'notes/guides/x y.md', { fields: { content: '# Needle' } });
  expect(written).toMatchObject({ status: 200, value: { path: 'guides/x y.md' } });
  await ask('PUT', 'notes/guides/x y.md', { fields: { content: 'more', mode: 'append' } });
  expect(await ask('GET', 'notes/guides/x y.md')).toMatchObject({ value: { content: '# Needle\nmore' } });
  expect(await ask('GET', 'folders')).toMatchObject({ value: { entries: [{ path: 'guides/' }] } });
  expect(await ask('GET', 'folders/', { query: 'recursive=true' })).toMatchObject({ value: { entries: [{ path: 'guides/x y.md' }] } });
  expect(await ask('GET', 'search', { query: 'pattern=needle&path=guides&limit=3' })).toMatchObject({
    value: { hits: [{ line: 1 }], isCut: false },
  });
  expect(await ask('GET', 'search', { query: 'pattern=^N&regex=true' })).toMatchObject({ value: { hits: [] } });
  await ask('DELETE', 'notes/guides/x y.md', { query: 'confirm=true' });
  await expect(ask('GET', 'notes/guides/x y.md')).rejects.toMatchObject({ code: 'NotFound' });
});

it.each([
  ['DELETE', 'notes/x.md', {}, 'Invalid', 'x.md would be gone for good; say confirm=true'],
  ['POST', 'notes/x.md', {}, 'Invalid', 'a note is read by GET, written by PUT and removed by DELETE'],
  ['PUT', 'folders/x', {}, 'Invalid', 'only notes can be changed'],
  ['GET', 'other', {}, 'NotFound', 'there is no /vault/other'],
  ['GET', 'notes', {}, 'Invalid', 'which note? Give a path such as guides/style.md'],
  ['PUT', 'notes/x.md', {}, 'Invalid', 'content: Required value: the text of the note'],
  [
    'PUT',
    'notes/x.md',
    { content: 'x', mode: 'sideways' },
    'Invalid',
    'mode: Unsupported value: "sideways"; overwrite, append, prepend are accepted',
  ],
  ['PUT', 'notes/x.md', { content: 'x', ifversion: '1' }, 'Invalid', 'unknown field ifversion; content, mode and ifVersion are accepted'],
  ['PUT', 'notes/x.md', { content: 'x', ifVersion: '1' }, 'Conflict', 'x.md is not there any more'],
  ['PUT', 'notes/teams/a/tasks/x.md', { content: 'x' }, 'Forbidden', 'teams/a/tasks/x.md is generated'],
])('refuses %s %s %j', async (method, path, fields, code, message) => {
  await expect(ask(method, path, { fields })).rejects.toMatchObject({ code, message });
});

it('says that it follows a note, and then when it changes', async () => {
  const answer = await ask('GET', 'follow/x.md');
  if (!('lines' in answer)) throw new Error('no lines');
  const lines = answer.lines[Symbol.asyncIterator]();
  expect(await lines.next()).toMatchObject({ value: { following: true } });
  await ask('PUT', 'notes/x.md', { fields: { content: 'new' } });
  expect(await lines.next()).toMatchObject({ value: { changed: true } });
  await lines.return?.();
  await expect(ask('GET', 'follow/x.txt')).rejects.toMatchObject({ code: 'Invalid' });
});

it('lets viewers read and admins write; agents have another door', () => {
  const may = (identity: Parameters<Desk['may']>[0]) => ['GET', 'PUT', 'DELETE'].map((method) => desk.may(identity, method));
  expect(may(personIdentity('admin', 'ada'))).toEqual([true, true, true]);
  expect(may(personIdentity('viewer', 'eve'))).toEqual([true, false, false]);
  expect(may(agentIdentity({ namespace: 'default', team: 'a', name: 'coder' }))).toEqual([false, false, false]);
});
