import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OWN, refusal, type TestVault, testVault } from './vault.fixture.ts';

let world: TestVault;
let ending: AbortController;
beforeEach(async () => {
  world = await testVault();
  ending = new AbortController();
});
afterEach(async () => {
  ending.abort();
  await world.end();
});

/** Counts the changes that were told. */
async function following(path: string): Promise<{ count(): number; readonly ended: Promise<void> }> {
  let count = 0;
  const changes = await world.vault.follow('everything', path, ending.signal);
  const ended = (async () => {
    for await (const _change of changes) count++;
  })();
  return { count: () => count, ended };
}

const told = (followed: { count(): number }, count: number) =>
  vi.waitFor(() => expect(followed.count()).toBe(count), { timeout: 15_000, interval: 10 });

describe('who follows a note', () => {
  it('is told when it comes, changes and goes, by the vault or past it, and ends with its signal', async () => {
    const { vault, put, at } = world;
    const followed = await following('guides/deep/x.md');
    await vault.write('everything', 'guides/deep/x.md', 'one');
    await told(followed, 1);
    put('guides/deep/x.md', 'two');
    // Cut and written again: a look in between may see the empty note.
    await vi.waitFor(() => expect(followed.count()).toBeGreaterThan(1), { timeout: 15_000, interval: 10 });
    const before = followed.count();
    rmSync(at('guides'), { recursive: true });
    await vi.waitFor(() => expect(followed.count()).toBeGreaterThan(before), { timeout: 15_000, interval: 10 });
    const gone = followed.count();
    mkdirSync(at('next/deep'), { recursive: true });
    put('next/deep/x.md', 'three');
    renameSync(at('next'), at('guides'));
    await told(followed, gone + 1);
    ending.abort();
    await followed.ended;
  });

  it('is told nothing of what lies beside it, and nothing of a write that changes nothing', async () => {
    const { vault } = world;
    await vault.write('everything', 'a/x.md', 'one');
    const followed = await following('a/x.md');
    await vault.write('everything', 'a/y.md', 'beside');
    await vault.write('everything', 'a/x.md', 'one');
    await vault.write('everything', 'a/x.md', 'two');
    await told(followed, 1);
  });

  it('is told of the note that a link in the same folder leads to', async () => {
    const { vault, at } = world;
    await vault.write('everything', 'a/real.md', 'one');
    symlinkSync('real.md', at('a/link.md'));
    const followed = await following('a/link.md');
    await vault.write('everything', 'a/real.md', 'two');
    await told(followed, 1);
  });

  it.each([
    ['../x.md', 'Forbidden: ../x.md leads out of the vault'],
    ['x.txt', 'Invalid: x.txt is no note: notes end in .md'],
  ])('is refused %s', async (path, words) => {
    expect(await refusal(world.vault.follow('everything', path, ending.signal))).toBe(words);
  });

  it('is told nothing of another team', async () => {
    const { vault } = world;
    const theirs = await vault.follow(OWN, 'teams/b/notes/x.md', ending.signal);
    const own = await vault.follow(OWN, 'teams/a/notes/x.md', ending.signal);
    await vault.write('everything', 'teams/b/notes/x.md', 'secret');
    await vault.write('everything', 'teams/a/notes/x.md', 'ours');
    for await (const _change of own) break;
    ending.abort();
    for await (const _change of theirs) expect.unreachable();
  });
});
