import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OWN, refusal, type TestVault, testVault } from './vault.fixture.ts';

/** Takes time that doubles with every letter. */
const BOMB = '^(a+)+$';
const BAIT = `${'a'.repeat(60)}!`;

let world: TestVault;
beforeEach(async () => {
  world = await testVault();
});
afterEach(() => world.end());

describe('search', () => {
  it('finds text in any case, with two lines around it, in the order of paths', async () => {
    const { vault, put } = world;
    put('b.md', 'one\ntwo\nThe Needle here\nfour\nfive\nsix');
    put('a/x.md', 'needle\r\nlast');
    put('skipped.txt', 'needle');
    put('.trash/x.md', 'needle');
    put('latin.md', Buffer.from([0xff, 0x6e]));
    expect(await vault.search('everything', { pattern: 'nEEdle' })).toEqual({
      isCut: false,
      hits: [
        { path: 'a/x.md', line: 1, text: 'needle', context: ['needle', 'last'] },
        { path: 'b.md', line: 3, text: 'The Needle here', context: ['one', 'two', 'The Needle here', 'four', 'five'] },
      ],
    });
    expect((await vault.search('everything', { pattern: '(.*)' })).hits).toEqual([]);
  });

  it('takes regular expressions as they are written', async () => {
    const { vault, put } = world;
    put('x.md', 'Alpha\nbeta 12\ngamma');
    const found = async (pattern: string) => (await vault.search('everything', { pattern, isRegex: true })).hits.map(({ line }) => line);
    expect([await found('^[a-z]+ \\d+$'), await found('alpha'), await found('mm|Al')]).toEqual([[2], [], [1, 3]]);
    expect(await refusal(vault.search('everything', { pattern: '(', isRegex: true }))).toMatch(
      /^Invalid: the pattern is no regular expression: /,
    );
  });

  it('shows 20 and says when there are more', async () => {
    const { vault, put } = world;
    put('x.md', 'x\n'.repeat(20));
    put('y.md', 'only\n');
    const counted = async (query: { pattern: string; limit?: number; isRegex?: boolean }) => {
      const { hits, isCut } = await vault.search('everything', query);
      return [hits.length, isCut];
    };
    expect(await counted({ pattern: 'x' })).toEqual([20, false]);
    expect(await counted({ pattern: 'x', limit: 19 })).toEqual([19, true]);
    put('z.md', 'x');
    expect(await counted({ pattern: 'x' })).toEqual([20, true]);
    expect(await counted({ pattern: '^x$', isRegex: true })).toEqual([20, true]);
    expect(await counted({ pattern: 'x', limit: 100 })).toEqual([21, false]);
  });

  it('looks in one folder, in one note, or at one tag only', async () => {
    const { vault, put } = world;
    put('a/x.md', '---\ntags: [red]\n---\nword');
    put('a/y.md', 'word #red');
    put('b/x.md', 'word');
    const found = async (query: object) => (await vault.search('everything', { pattern: 'word', ...query })).hits.map(({ path }) => path);
    expect(await found({ path: 'a' })).toEqual(['a/x.md', 'a/y.md']);
    expect(await found({ path: 'b/x.md' })).toEqual(['b/x.md']);
    expect(await found({ tag: 'red' })).toEqual(['a/x.md']);
    expect(await found({ pattern: '', tag: '#red' })).toEqual(['a/x.md']);
    expect(await refusal(vault.search('everything', { pattern: 'x', path: 'c/absent.md' }))).toMatch(/^NotFound/);
  });

  it.each([
    [{ pattern: 'x'.repeat(1_025) }, 'Invalid: the pattern has 1025 characters; at most 1024 are accepted'],
    [{ pattern: '' }, 'Invalid: search for what? Give a pattern or a tag'],
    [{ pattern: 'x', limit: 0 }, 'Invalid: limit is 0; a whole number from 1 to 100 is accepted'],
    [{ pattern: 'x', limit: 101 }, 'Invalid: limit is 101; a whole number from 1 to 100 is accepted'],
    [{ pattern: 'x', path: '../..' }, 'Forbidden: ../.. leads out of the vault'],
  ])('refuses %j', async (query, said) => {
    expect(await refusal(world.vault.search('everything', query))).toBe(said);
  });

  it('ends a pattern that would run for ever, and answers others meanwhile', async () => {
    const { vault, put } = world;
    put('x.md', BAIT);
    let isOver = false;
    const bombs = Promise.all([1, 2, 3].map(() => refusal(vault.search('everything', { pattern: BOMB, isRegex: true })))).finally(() => {
      isOver = true;
    });
    let answered = 0;
    while (!isOver) {
      await vault.write(OWN, 'teams/a/notes/n.md', `${answered}`);
      expect((await vault.read(OWN, 'teams/a/notes/n.md')).content).toBe(`${answered}`);
      expect((await vault.search('everything', { pattern: '!' })).hits).toHaveLength(1);
      answered++;
    }
    for (const said of await bombs) expect(said).toMatch(/^Timeout: the pattern took longer than 1000 ms/);
    expect(answered).toBeGreaterThan(1);
    expect((await vault.search('everything', { pattern: '^a+', isRegex: true })).hits).toHaveLength(1);
  });

  it('stops when nobody wants the answer any more', async () => {
    const { vault, put } = world;
    put('x.md', 'x');
    await expect(vault.search('everything', { pattern: 'x' }, AbortSignal.abort())).rejects.toThrow(/abort/);
  });
});
