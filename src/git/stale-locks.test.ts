import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestRepository } from './repository.fixture.ts';
import { removeStaleLocks } from './stale-locks.ts';

let repository: TestRepository;
const at = (path: string) => join(repository.gitDirectory, path);
beforeEach(() => {
  repository = new TestRepository();
  repository.commit('first', { 'a.txt': 'a\n' });
});
afterEach(() => repository.remove());

function lock(): string[] {
  mkdirSync(at('refs/agentiso/x'), { recursive: true });
  const locks = ['packed-refs.lock', 'refs/heads/main.lock', 'refs/agentiso/x/y.lock'].map(at);
  for (const path of locks) writeFileSync(path, '');
  return locks;
}

it('removes the locks of gits that were killed, and nothing else', async () => {
  const locks = lock();
  const head = repository.head();
  expect(repository.tryGit('update-ref', 'refs/heads/main', head, head)).toBe(false);
  await removeStaleLocks(repository.gitDirectory);
  expect(locks.filter(existsSync)).toEqual([]);
  expect(repository.tryGit('update-ref', 'refs/heads/main', head, head)).toBe(true);
  expect(repository.head()).toBe(head);
});

it('lets one finish that is still at work', async () => {
  const [first = ''] = lock();
  const git = spawn('cat', [], { cwd: repository.gitDirectory, stdio: ['pipe', 'ignore', 'ignore'] });
  const removed = removeStaleLocks(repository.gitDirectory);
  const early = await Promise.race([removed.then(() => 'removed'), new Promise((resolve) => setTimeout(resolve, 300, 'waits'))]);
  expect([early, existsSync(first)]).toEqual(['waits', true]);
  git.stdin.end();
  await removed;
  expect(existsSync(first)).toBe(false);
});
