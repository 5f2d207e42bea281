import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { requires } from '../../test/support/requirements.ts';
import { makeRouter, missingForRules, type RouterFixture } from './router.fixture.ts';
import { Session, type SessionOptions } from './session.ts';

const missing = missingForRules();

requires(missing === '', `rules: ${missing}`)('a session of nft', () => {
  let router: RouterFixture;
  let folder: string;
  const sessions: Session[] = [];
  const pids: number[] = [];

  beforeEach(async () => {
    router = await makeRouter();
    folder = mkdtempSync(join(tmpdir(), 'agentiso-session-'));
    router.nft('add table ip t; add set ip t s { type mark; }');
  });

  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    await router.close();
    rmSync(folder, { recursive: true });
    pids.splice(0);
  });

  function open(options: Partial<SessionOptions> = {}): Session {
    const { tools, namespace } = router;
    const session = new Session({ tools, namespace, onPid: (pid) => pids.push(pid), ...options });
    sessions.push(session);
    return session;
  }

  /** Something else in the place of nft. */
  function stranger(script: string): Partial<SessionOptions> {
    const nft = join(folder, 'nft');
    writeFileSync(nft, `#!/bin/sh\n${script}\n`);
    chmodSync(nft, 0o755);
    return { tools: { ...router.tools, nft } };
  }

  const elements = () => [...router.nft('list', 'set', 'ip', 't', 's').matchAll(/0x[0-9a-f]{8}/g)].map(([mark]) => Number(mark));

  it('makes several transactions in one process', async () => {
    const session = open();
    await session.apply('add element ip t s { 1 }\nadd element ip t s { 2 }\n');
    await session.apply('delete element ip t s { 1 }\n');
    expect(elements()).toEqual([2]);
    expect(new Set(pids).size).toBe(1);
  });

  it('makes all of a transaction or nothing, says why, and goes on', async () => {
    const session = open();
    const refused = session.apply('add element ip t s { 3 }\ndelete element ip t s { 4 }\n');
    await expect(refused).rejects.toMatchObject({ reason: 'RulesRejected', message: expect.stringContaining('No such file or directory') });
    expect(elements()).toEqual([]);
    await session.apply('add element ip t s { 5 }\n');
    expect(elements()).toEqual([5]);
    expect(new Set(pids).size).toBe(1);
  });

  it('sees what others have changed meanwhile', async () => {
    const session = open();
    await session.apply('add element ip t s { 1 }\n');
    router.nft('flush set ip t s; add set ip t later { type mark; }');
    await expect(session.apply('delete element ip t s { 1 }\n')).rejects.toMatchObject({ reason: 'RulesRejected' });
    await session.apply('add element ip t later { 6 }\n');
    expect(router.nft('list set ip t later')).toContain('0x00000006');
  });

  it('goes on in another process when it was ended', async () => {
    const session = open();
    await session.apply('add element ip t s { 1 }\n');
    const [pid = 0] = pids;
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow());
    await session.apply('add element ip t s { 2 }\n');
    await session.end();
    await session.apply('add element ip t s { 3 }\n');
    expect(elements().sort()).toEqual([1, 2, 3]);
    expect(new Set(pids).size).toBe(3);
  });

  it('fails, and is not asked again at once, where nft has none', async () => {
    const session = open(stranger('echo "interactive CLI not supported"; exit 1'));
    expect(session.takes('')).toBe(true);
    await expect(session.apply('add element ip t s { 1 }\n')).rejects.toMatchObject({
      reason: 'NetworkToolFailed',
      message: 'nft -i failed: it ended with 1 interactive CLI not supported',
    });
    expect(session.takes('')).toBe(false);
  });

  it.each([
    ['does not answer', 'exec cat > /dev/null', { timeoutMs: 1_000 }, /does not answer/],
    ['does not stop answering', 'exec yes', {}, /does not stop answering/],
  ])('is ended when it %s', async (_what, script, options, message) => {
    const session = open({ ...stranger(script), ...options });
    await expect(session.apply('add element ip t s { 1 }\n')).rejects.toThrow(message);
    await session.end();
    expect(() => process.kill(pids[0] ?? 0, 0)).toThrow();
  });

  it('does not leave anybody waiting when it is closed, and takes nothing more', async () => {
    const session = open(stranger('exec cat > /dev/null'));
    const asked = expect(session.apply('add element ip t s { 1 }\n')).rejects.toThrow('it was ended');
    await session.close();
    await asked;
    expect(session.takes('')).toBe(false);
  });

  it('leaves long texts to a process of their own', () => {
    expect([open().takes('x'.repeat(4_096)), open().takes('x'.repeat(4_097))]).toEqual([true, false]);
  });
});
