import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unfinishedCheckout } from './checkout.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-checkout-'));
  mkdirSync(join(root, 'repo/.git'), { recursive: true });
  mkdirSync(join(root, 'repo/deploy/teams'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

it('is finished when git does nothing, and outside of any check-out', () => {
  expect(unfinishedCheckout(join(root, 'repo/deploy'))).toBeUndefined();
  expect(unfinishedCheckout(root)).toBeUndefined();
});

it.each(['index.lock', 'rebase-merge', 'rebase-apply'])('is unfinished while there is %s, seen from any folder below', (mark) => {
  mkdirSync(join(root, 'repo/.git', mark));
  for (const folder of ['repo', 'repo/deploy/teams']) expect(unfinishedCheckout(join(root, folder))).toBe(join(root, 'repo/.git', mark));
});

it('follows the file that a second work tree has in place of the folder', () => {
  mkdirSync(join(root, 'repo/.git/worktrees/second'), { recursive: true });
  mkdirSync(join(root, 'second'));
  writeFileSync(join(root, 'second/.git'), 'gitdir: ../repo/.git/worktrees/second\n');
  expect(unfinishedCheckout(join(root, 'second'))).toBeUndefined();
  writeFileSync(join(root, 'repo/.git/worktrees/second/index.lock'), '');
  expect(unfinishedCheckout(join(root, 'second'))).toBe(join(root, 'repo/.git/worktrees/second/index.lock'));
});
