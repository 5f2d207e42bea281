import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headOf } from './head-of.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-head-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): string {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'core.hooksPath=/dev/null'];
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

describe('headOf', () => {
  it('says what git says: on a branch, on a deep one, packed, detached, and after the next commit', () => {
    expect(headOf(folder)).toBeUndefined();
    git('init', '-q', '-b', 'main');
    expect(headOf(folder)).toBeUndefined();
    const same = () => expect(headOf(folder)).toBe(git('rev-parse', 'HEAD'));
    git('commit', '-q', '--allow-empty', '-m', 'one');
    same();
    git('checkout', '-q', '-b', 'agents/shop/one');
    git('commit', '-q', '--allow-empty', '-m', 'two');
    same();
    git('pack-refs', '--all', '--prune');
    same();
    git('commit', '-q', '--allow-empty', '-m', 'three');
    same();
    git('checkout', '-q', '--detach', 'main');
    same();
  });

  it('does not wait for a pipe, follow a link or leave the repository', () => {
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    const head = join(folder, '.git', 'HEAD');
    rmSync(head);
    execFileSync('mkfifo', [head]);
    expect(headOf(folder)).toBeUndefined();
    rmSync(head);
    symlinkSync(join(folder, '.git/refs/heads/main'), head);
    expect(headOf(folder)).toBeUndefined();
    rmSync(head);
    writeFileSync(join(folder, 'elsewhere'), `${'0'.repeat(40)}\n`);
    writeFileSync(head, 'ref: refs/../../elsewhere\n');
    expect(headOf(folder)).toBeUndefined();
  });
});
