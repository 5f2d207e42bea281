import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentIdentity } from './identity.ts';
import { TokenStore } from './tokens.ts';

let home: string;
let dir: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'agentiso-tokens-'));
  dir = join(home, 'auth');
});
afterEach(() => rm(home, { recursive: true }));

const open = () => TokenStore.open(dir);
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the admin token', () => {
  it('is made at the first start and stays', async () => {
    const { adminToken } = await open();
    expect(adminToken).toMatch(/^[-\w]{43}$/);
    const again = await open();
    expect(again.adminToken).toBe(adminToken);
    expect(again.identityOf(adminToken)).toEqual({ user: 'admin', role: 'admin', groups: ['system:masters', 'system:authenticated'] });
    expect(await modeOf(dir)).toBe(0o700);
    expect(await modeOf(join(dir, 'admin-token'))).toBe(0o600);
  });

  it('is another one after its file was removed', async () => {
    const { adminToken } = await open();
    await rm(join(dir, 'admin-token'));
    const next = await open();
    expect(next.adminToken).not.toBe(adminToken);
    expect(next.identityOf(adminToken)).toBeUndefined();
  });

  it.each(['', 'short', 'x'.repeat(44), `${'x'.repeat(42)}!`])('is not used when it is damaged: %j', async (text) => {
    await open();
    await writeFile(join(dir, 'admin-token'), text);
    await expect(open()).rejects.toMatchObject({
      code: 'IoError',
      reason: 'TokensUnreadable',
      hint: expect.stringContaining('remove the file'),
    });
  });

  it('is taken from the eyes of others', async () => {
    await open();
    await chmod(join(dir, 'admin-token'), 0o644);
    await open();
    expect(await modeOf(join(dir, 'admin-token'))).toBe(0o600);
  });
});

describe('an issued token', () => {
  it('works at once and after a restart, and only its hash is on disk', async () => {
    const store = await open();
    const token = await store.issue({ role: 'viewer', user: 'eve' });
    const expected = { user: 'eve', role: 'viewer', groups: ['agentiso:viewers', 'system:authenticated'] };
    expect(store.identityOf(token)).toEqual(expected);
    expect((await open()).identityOf(token)).toEqual(expected);
    const path = join(dir, 'tokens.json');
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain(token);
    expect(text).toContain(createHash('sha256').update(token).digest('hex'));
    expect(await modeOf(path)).toBe(0o600);
    expect((await readdir(dir)).sort()).toEqual(['admin-token', 'tokens.json']);
  });

  it('is no longer known once revoked, also after a restart', async () => {
    const store = await open();
    const [one, two] = [await store.issue({ role: 'viewer', user: 'eve' }), await store.issue({ role: 'admin', user: 'orchestrator:ci' })];
    expect(await store.revoke(one)).toBe(true);
    expect(await store.revoke(one)).toBe(false);
    for (const each of [store, await open()]) {
      expect(each.identityOf(one)).toBeUndefined();
      expect(each.identityOf(two)?.role).toBe('admin');
    }
  });

  it('can be revoked by its user, when the token is lost', async () => {
    const store = await open();
    const tokens = [await store.issue({ role: 'viewer', user: 'eve' }), await store.issue({ role: 'admin', user: 'eve' })];
    const kept = await store.issue({ role: 'viewer', user: 'adam' });
    expect(store.list().map(({ user, role }) => `${user} ${role}`)).toEqual(['eve viewer', 'eve admin', 'adam viewer']);
    expect(await store.revokeUser('eve')).toBe(2);
    expect(tokens.map((token) => store.identityOf(token))).toEqual([undefined, undefined]);
    expect(store.identityOf(kept)?.user).toBe('adam');
  });

  it('is not lost when many are issued at once', async () => {
    const store = await open();
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => store.issue({ role: 'viewer', user: `u${index}` })));
    const again = await open();
    expect(tokens.map((token) => again.identityOf(token)?.user)).toEqual(tokens.map((_, index) => `u${index}`));
  });

  it('is not given out when it cannot be written, and the next one can be', async () => {
    const store = await open();
    await rm(dir, { recursive: true });
    await expect(store.issue({ role: 'viewer', user: 'eve' })).rejects.toMatchObject({ code: 'IoError' });
    expect(store.list()).toEqual([]);
    await open();
    expect(store.identityOf(await store.issue({ role: 'viewer', user: 'eve' }))?.user).toBe('eve');
  });

  it.each(['', 'agent:default/a/b', 'system:masters', 'a b', 'a\n', 'x'.repeat(129)])('is not issued to %j', async (user) => {
    const store = await open();
    await expect(store.issue({ role: 'viewer', user })).rejects.toMatchObject({ code: 'Invalid' });
  });
});

describe('a transient token', () => {
  it('works until it is revoked or the process ends, and is never on disk', async () => {
    const coder = agentIdentity({ namespace: 'default', team: 'sprint', name: 'coder' });
    const store = await open();
    const [one, two] = [store.issueTransient(coder), store.issueTransient(coder)];
    expect(store.identityOf(one)).toEqual(coder);
    expect(store.revokeTransient(one)).toBe(true);
    expect(store.revokeTransient(one)).toBe(false);
    expect(store.identityOf(one)).toBeUndefined();
    expect(store.identityOf(two)).toEqual(coder);
    expect((await open()).identityOf(two)).toBeUndefined();
    expect(await readdir(dir)).toEqual(['admin-token']);
  });
});

describe('a token file that cannot be read', () => {
  it.each([
    ['', 'JSON'],
    ['{"format":1,"tok', 'JSON'],
    ['[]', 'it must hold a list of tokens'],
    ['{"format":2,"tokens":[]}', 'its format is 2, this version reads 1'],
    ['{"format":1,"tokens":[{"hash":"zz"}]}', 'tokens[0].hash must be 64 hexadecimal digits'],
    [
      `{"format":1,"tokens":[{"hash":"${'0'.repeat(64)}","user":"x","role":"agent","createdAt":""}]}`,
      'tokens[0].user must be agent:NAMESPACE/TEAM/NAME',
    ],
    [`{"format":1,"tokens":[{"hash":"${'0'.repeat(64)}","role":"admin","createdAt":""}]}`, 'tokens[0].user must be a name'],
  ])('stops the start and says why: %s', async (text, why) => {
    await open();
    await writeFile(join(dir, 'tokens.json'), text);
    const failure = await open().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'IoError',
      reason: 'TokensUnreadable',
      message: expect.stringContaining(join(dir, 'tokens.json')),
    });
    expect(String(failure)).toContain(why);
  });
});

it('nothing that is not a token names anybody', async () => {
  const store = await open();
  for (const text of ['', 'admin', '__proto__', createHash('sha256').update(store.adminToken).digest('hex')])
    expect(store.identityOf(text)).toBeUndefined();
});
