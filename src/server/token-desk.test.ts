import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from './auth/tokens.ts';
import { type TokenDesk, tokenDesk } from './token-desk.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
let tokens: TokenStore;
let desk: TokenDesk;
const shownOut: string[] = [];

beforeAll(async () => {
  tokens = await TokenStore.open(dir);
  desk = tokenDesk({ tokens, kubeconfig: (token) => `token: ${token}`, onRevoked: (user) => shownOut.push(user) });
});
afterAll(() => rmSync(dir, { recursive: true }));

async function ask(method: string, { query = '', body = '' } = {}) {
  const answer = await desk.answer({
    method,
    path: '',
    query: new URLSearchParams(query),
    contentType: undefined,
    body: async () => Buffer.from(body),
  });
  const said: Record<string, unknown> = { status: answer.status, ...JSON.parse(String(answer.body)) };
  return said;
}

describe('the token desk', () => {
  it('gives a way in, shows who has one without showing it, and takes it away', async () => {
    const made = await ask('POST', { body: '{"user":"bob","role":"viewer"}' });
    expect(made).toMatchObject({ status: 201, user: 'bob', role: 'viewer', kubeconfig: `token: ${made['token']}` });
    expect(tokens.identityOf(made['token'] as string)).toMatchObject({ user: 'bob', role: 'viewer' });
    const listed = await ask('GET');
    expect(listed['items']).toEqual([{ user: 'bob', role: 'viewer', createdAt: expect.any(String) }]);
    expect(JSON.stringify(listed)).not.toContain(made['token']);
    expect(await ask('DELETE', { query: 'user=bob' })).toMatchObject({ revoked: 1 });
    expect(tokens.identityOf(made['token'] as string)).toBeUndefined();
    expect(shownOut).toEqual(['bob']);
  });

  it('lets an agent in as itself, also after a restart', async () => {
    const made = await ask('POST', { body: '{"role":"agent:default/sprint/coder-1"}' });
    const again = await TokenStore.open(dir);
    const agent = { namespace: 'default', team: 'sprint', name: 'coder-1' };
    for (const store of [tokens, again]) expect(store.identityOf(made['token'] as string)).toMatchObject({ role: 'agent', agent });
    expect(await ask('DELETE', { query: 'user=agent:default/sprint/coder-1' })).toMatchObject({ revoked: 1 });
    expect(tokens.identityOf(made['token'] as string)).toBeUndefined();
  });

  it.each([
    { name: 'no user', method: 'POST', body: '{"role":"viewer"}', want: 'user: Required value' },
    { name: 'no such role', method: 'POST', body: '{"user":"bob","role":"root"}', want: 'supported values: "admin", "viewer"' },
    { name: 'no such agent', method: 'POST', body: '{"role":"agent:sprint/coder"}', want: 'agent:NAMESPACE/TEAM/AGENT' },
    { name: 'a name for an agent', method: 'POST', body: '{"user":"bob","role":"agent:a/b/c"}', want: 'leave out user' },
    { name: 'the name of an agent', method: 'POST', body: '{"user":"agent:a/b/c","role":"admin"}', want: 'cannot be the user of a token' },
    { name: 'nobody', method: 'DELETE', body: '', want: '?user=NAME' },
    { name: 'another method', method: 'PUT', body: '', want: 'made by POST' },
  ])('refuses $name', async ({ method, body, want }) => {
    await expect(ask(method, { body })).rejects.toThrow(want);
  });

  it('says that somebody without a token has none', async () => {
    await expect(ask('DELETE', { query: 'user=nobody' })).rejects.toThrow('nobody called "nobody" has a token');
  });
});
