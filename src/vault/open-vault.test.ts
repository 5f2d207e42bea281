import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '#lib/native.ts';
import { MAX_NOTE_BYTES } from './file.ts';
import { OWN, refusal, type TestVault, testVault } from './vault.fixture.ts';

let world: TestVault;
beforeEach(async () => {
  world = await testVault();
});
afterEach(() => world.end());

describe('notes', () => {
  it('gives back what was written, with its frontmatter, in files for the owner only', async () => {
    const { vault, at } = world;
    const content = '---\ntags: [x, y]\ntitle: Grüße\n---\n# Note 🌱\n';
    const { path, version } = await vault.write('everything', 'guides//./style.md', content);
    expect(path).toBe('guides/style.md');
    expect(await vault.read('everything', 'guides/style.md')).toEqual({
      path,
      content,
      version,
      frontmatter: { tags: ['x', 'y'], title: 'Grüße' },
    });
    expect(readFileSync(at('guides/style.md'), 'utf8')).toBe(content);
    expect([statSync(at('guides/style.md')).mode & 0o777, statSync(at('guides')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(at('.agentiso'))).toEqual([]);
  });

  it('appends and prepends whole lines, below the frontmatter', async () => {
    const { vault } = world;
    await vault.write('everything', 'log.md', '---\na: 1\n---\nfirst');
    await vault.write('everything', 'log.md', 'second', { mode: 'append' });
    await vault.write('everything', 'log.md', 'zeroth', { mode: 'prepend' });
    expect((await vault.read('everything', 'log.md')).content).toBe('---\na: 1\n---\nzeroth\nfirst\nsecond');
  });

  it('loses none of 50 appends at the same time', async () => {
    const { vault } = world;
    const lines = Array.from({ length: 50 }, (_value, index) => `line ${index}`);
    await Promise.all(lines.map((line) => vault.write(OWN, 'teams/a/notes/log.md', `${line}\n`, { mode: 'append' })));
    const { content } = await vault.read(OWN, 'teams/a/notes/log.md');
    expect(content.trimEnd().split('\n').sort()).toEqual([...lines].sort());
  });

  it('lets one of two writers with the same version win', async () => {
    const { vault } = world;
    const { version } = await vault.write('everything', 'x.md', 'one');
    const tries = await Promise.all(
      ['two', 'three'].map((text) => refusal(vault.write('everything', 'x.md', text, { ifVersion: version }))),
    );
    expect(tries.sort()).toEqual([`Conflict: x.md has changed since version ${version}`, 'answered']);
    expect(await refusal(vault.write('everything', 'new.md', 'x', { ifVersion: version }))).toBe('Conflict: new.md is not there any more');
  });

  it('removes a note, and only a note that is there', async () => {
    const { vault } = world;
    await vault.write(OWN, 'teams/a/notes/x.md', 'x');
    await vault.remove(OWN, 'teams/a/notes/x.md');
    expect(await refusal(vault.read(OWN, 'teams/a/notes/x.md'))).toBe('NotFound: there is no note teams/a/notes/x.md');
    expect(await refusal(vault.remove(OWN, 'teams/a/notes/x.md'))).toBe('NotFound: there is no note teams/a/notes/x.md');
  });

  it.each([
    ['../x.md', 'Forbidden: ../x.md leads out of the vault'],
    ['guides/../../x.md', 'Forbidden: guides/../../x.md leads out of the vault'],
    ['/etc/x.md', 'Forbidden: /etc/x.md leads out of the vault'],
    ['x.txt', 'Invalid: x.txt is no note: notes end in .md'],
    ['', 'Invalid: which note? Give a path such as guides/style.md'],
    ['.git/x.md', 'Invalid: .git/x.md: names that begin with a dot, as .git does, are not part of the vault'],
    ['.obsidian/x.md', 'Invalid: .obsidian/x.md: names that begin with a dot, as .obsidian does, are not part of the vault'],
    ['a\0b.md', 'Invalid: "a\\u0000b.md" is no path: it has characters that no file name can have'],
    ['a\ud800.md', 'Invalid: "a\\ud800.md" is no path: it has characters that no file name can have'],
    [`${'x'.repeat(300)}.md`, 'Invalid: the path is too long: at most 1024 bytes, 255 per name, 32 folders'],
    ['absent.md/x.md', 'NotFound: there is no note absent.md/x.md'],
  ])('refuses to read %j', async (path, said) => {
    expect(await refusal(world.vault.read('everything', path))).toBe(said);
  });

  it('says what the disk says, and leaves the note as it was', async () => {
    const { vault, at } = world;
    await vault.write('everything', 'x.md', 'before');
    rmSync(at('.agentiso'), { recursive: true });
    writeFileSync(at('.agentiso'), 'in the way');
    expect(await refusal(vault.write('everything', 'x.md', 'after'))).toBe('IoError: x.md cannot be written: ENOTDIR: not a directory');
    expect((await vault.read('everything', 'x.md')).content).toBe('before');
    rmSync(at('.agentiso'));
    await vault.write('everything', 'x.md', 'after');
    expect(readFileSync(at('x.md'), 'utf8')).toBe('after');
  });

  it('refuses what is too large or no UTF-8, to write and to read', async () => {
    const { vault, put } = world;
    expect(await refusal(vault.write('everything', 'x.md', 'x'.repeat(MAX_NOTE_BYTES + 1)))).toMatch(
      /^TooLarge: x.md is larger than 10485760 bytes/,
    );
    await vault.write('everything', 'x.md', 'ä'.repeat(MAX_NOTE_BYTES / 2));
    expect(await refusal(vault.write('everything', 'x.md', 'y', { mode: 'append' }))).toMatch(/^TooLarge/);
    expect(await refusal(vault.write('everything', 'y.md', 'half \ud83c'))).toMatch(/^Invalid: the text for y.md has half a character/);
    put('latin.md', Buffer.from([0x47, 0x72, 0xfc, 0xdf]));
    expect(await refusal(vault.read('everything', 'latin.md'))).toBe('Invalid: latin.md is not text in UTF-8');
    put('big.md', Buffer.alloc(MAX_NOTE_BYTES + 1, 'x'));
    expect(await refusal(vault.read('everything', 'big.md'))).toMatch(/^TooLarge/);
  });
});

describe('scopes', () => {
  beforeEach(async () => {
    const { vault, put } = world;
    for (const team of ['a', 'a-b']) await vault.ensureTeam('default', team);
    await vault.ensureTeam('lab', 'a');
    for (const path of ['guides/g.md', 'teams/a/notes/n.md', 'teams/a/other.md', 'teams/a-b/notes/n.md', 'teams/loose.md'])
      put(path, 'secret');
    for (const path of ['namespaces/lab/teams/a/notes/n.md', 'namespaces/lab/x.md']) put(path, 'secret');
    await vault.writeGenerated('default', 'a', 'tasks/t.md', 'secret');
    await vault.writeGenerated('default', 'a', 'cards/c.json', '{ "is": "secret" }');
  });

  it('show an agent its own team and what belongs to no team', async () => {
    const { vault } = world;
    const mine = ['guides/g.md', 'teams/a/cards/c.json', 'teams/a/notes/n.md', 'teams/a/other.md', 'teams/a/tasks/t.md'];
    const seen = async (scope: Parameters<typeof vault.list>[0]) =>
      (await vault.list(scope, { recursive: true })).entries.map(({ path }) => path);
    expect(await seen(OWN)).toEqual(mine);
    expect([...new Set((await vault.search(OWN, { pattern: 'secret' })).hits.map(({ path }) => path))]).toEqual(mine);
    expect(await seen({ namespace: 'lab', team: 'a' })).toEqual(['guides/g.md', 'namespaces/lab/teams/a/notes/n.md']);
    expect((await seen('everything')).length).toBe(9);
  });

  it.each([
    'teams/a-b/notes/n.md',
    'teams/loose.md',
    'namespaces/lab/teams/a/notes/n.md',
    'namespaces/lab/x.md',
    'teams/nobody/notes/n.md',
  ])('hide %s as if it were not there', async (path) => {
    expect(await refusal(world.vault.read(OWN, path))).toBe(`NotFound: there is no note ${path}`);
    expect(await refusal(world.vault.search(OWN, { pattern: 'x', path }))).toMatch(/^NotFound/);
    expect(await refusal(world.vault.write(OWN, path, 'mine'))).toBe(`Forbidden: ${path} is not yours to write`);
    expect(await refusal(world.vault.remove(OWN, path))).toBe(`Forbidden: ${path} is not yours to write`);
  });

  it('let an agent write its notes and nothing else', async () => {
    const { vault } = world;
    expect(await refusal(vault.write(OWN, 'teams/a/notes/deep/er/x.md', 'x'))).toBe('answered');
    expect(await refusal(vault.write(OWN, 'guides/g.md', 'x'))).toBe('Forbidden: guides/g.md is not yours to write');
    expect(await refusal(vault.write(OWN, 'teams/a/other.md', 'x'))).toBe('Forbidden: teams/a/other.md is not yours to write');
    expect(await refusal(vault.write(OWN, 'teams/a/tasks/t.md', 'x'))).toBe('Forbidden: teams/a/tasks/t.md is generated');
    expect(await refusal(vault.write(OWN, 'teams/a/notes.md', 'x'))).toBe('Forbidden: teams/a/notes.md is not yours to write');
  });

  it('let nobody write what is generated, and say what to do instead', async () => {
    const { vault } = world;
    await expect(vault.write('everything', 'teams/a/tasks/t.md', 'x')).rejects.toMatchObject({
      code: 'Forbidden',
      hint: 'change the Task it shows: agentiso edit task a-t',
    });
    await expect(vault.remove('everything', 'namespaces/lab/teams/a/cards/c.json')).rejects.toMatchObject({
      code: 'Forbidden',
      hint: 'change the Team it shows: agentiso edit team a -n lab',
    });
  });

  it('list one folder with its folders, or everything below it', async () => {
    const { vault } = world;
    const paths = async (path: string) => (await vault.list('everything', { path })).entries.map((entry) => entry.path);
    expect(await paths('')).toEqual(['guides/', 'namespaces/', 'teams/']);
    expect(await paths('teams/a')).toEqual(['teams/a/cards/', 'teams/a/notes/', 'teams/a/other.md', 'teams/a/tasks/']);
    expect((await vault.list(OWN, { path: 'teams' })).entries.map(({ path }) => path)).toEqual(['teams/a/']);
    expect(await refusal(vault.list(OWN, { path: 'teams/a-b' }))).toMatch(/^NotFound/);
    expect(await refusal(vault.list('everything', { path: 'nowhere' }))).toMatch(/^NotFound/);
  });
});

describe('links', () => {
  it('are followed inside the vault, and judged by where they lead', async () => {
    const { vault, at, put } = world;
    await vault.ensureTeam('default', 'a');
    put('teams/b/notes/secret.md', 'secret');
    put('guides/real.md', 'real');
    symlinkSync('real.md', at('guides/alias.md'));
    symlinkSync(at('teams/b/notes'), at('guides/peek'));
    symlinkSync(at('guides/real.md'), at('teams/a/notes/link.md'));
    expect((await vault.read(OWN, 'guides/alias.md')).path).toBe('guides/real.md');
    expect(await refusal(vault.read(OWN, 'guides/peek/secret.md'))).toMatch(/^NotFound/);
    expect((await vault.search(OWN, { pattern: 'secret' })).hits).toEqual([]);
    expect(await refusal(vault.list(OWN, { path: 'guides/peek' }))).toMatch(/^NotFound/);
    expect((await vault.read('everything', 'guides/peek/secret.md')).path).toBe('teams/b/notes/secret.md');
    expect(await refusal(vault.write(OWN, 'teams/a/notes/link.md', 'x'))).toBe('Forbidden: guides/real.md is not yours to write');
    expect(readFileSync(at('guides/real.md'), 'utf8')).toBe('real');
  });

  it('lead nowhere outside, neither to read nor to write nor to list nor to remove', async () => {
    const { vault, at, home } = world;
    await vault.ensureTeam('default', 'a');
    mkdirSync(join(home, 'outside'));
    mkdirSync(join(home, 'vault-not'));
    for (const folder of ['outside', 'vault-not']) writeFileSync(join(home, folder, 'x.md'), 'precious');
    symlinkSync(join(home, 'outside'), at('teams/a/notes/out'));
    symlinkSync('../../../../outside/x.md', at('teams/a/notes/file.md'));
    symlinkSync(join(home, 'vault-not'), at('teams/a/notes/near'));
    symlinkSync('loop.md', at('teams/a/notes/loop.md'));
    for (const name of ['out/x.md', 'file.md', 'near/x.md', 'loop.md']) {
      const path = `teams/a/notes/${name}`;
      expect(await refusal(vault.read(OWN, path))).toBe(`Forbidden: ${path} leads out of the vault`);
      expect(await refusal(vault.write(OWN, path, 'bad'))).toBe(`Forbidden: ${path} leads out of the vault`);
      expect(await refusal(vault.remove('everything', path))).toBe(`Forbidden: ${path} leads out of the vault`);
    }
    expect(await refusal(vault.write(OWN, 'teams/a/notes/out/new.md', 'bad'))).toMatch(/^Forbidden/);
    expect(await refusal(vault.list(OWN, { path: 'teams/a/notes/out' }))).toMatch(/^Forbidden/);
    expect((await vault.search('everything', { pattern: 'precious' })).hits).toEqual([]);
    expect([readdirSync(join(home, 'outside')), readFileSync(join(home, 'outside/x.md'), 'utf8')]).toEqual([['x.md'], 'precious']);
    await vault.removeTeam('default', 'a');
    expect(readFileSync(join(home, 'outside/x.md'), 'utf8')).toBe('precious');
  });

  it('that lead nowhere are replaced by a write, and nothing is made at their end', async () => {
    const { vault, at, home } = world;
    await vault.ensureTeam('default', 'a');
    symlinkSync(join(home, 'made.md'), at('teams/a/notes/x.md'));
    symlinkSync(join(home, 'made'), at('teams/a/notes/folder'));
    expect(await refusal(vault.read(OWN, 'teams/a/notes/x.md'))).toMatch(/^Invalid/);
    expect(await refusal(vault.write(OWN, 'teams/a/notes/folder/x.md', 'x'))).toMatch(/^Invalid: teams\/a\/notes\/folder is no folder/);
    expect(readdirSync(home)).toEqual(['vault']);
  });

  it('cannot be put in the way between the question and the write', async () => {
    const { vault, at, home } = world;
    mkdirSync(join(home, 'outside'));
    symlinkSync(join(home, 'outside'), at('link'));
    await vault.ensureTeam('default', 'a');
    mkdirSync(at('teams/a/notes/deep'));
    let isSwapping = true;
    const swapping = (async () => {
      while (isSwapping) {
        exchange(at('link'), at('teams/a/notes/deep'));
        await new Promise(setImmediate);
      }
    })();
    for (let round = 0; round < 100; round++) {
      await Promise.all([0, 1, 2, 3].map((at) => refusal(vault.write(OWN, `teams/a/notes/deep/x${at}.md`, 'x'))));
    }
    isSwapping = false;
    await swapping;
    expect(readdirSync(join(home, 'outside'))).toEqual([]);
  });
});

describe('teams', () => {
  it('get their folders, and lose them with everything inside and nothing beside', async () => {
    const { vault, at } = world;
    for (const team of ['a', 'a-b']) {
      await vault.ensureTeam('default', team);
      await vault.write({ namespace: 'default', team }, `teams/${team}/notes/n.md`, 'x');
    }
    expect(readdirSync(at('teams/a'))).toEqual(['cards', 'notes', 'tasks']);
    await vault.removeTeam('default', 'a');
    await vault.removeTeam('default', 'a');
    expect(readdirSync(at('teams'))).toEqual(['a-b']);
    expect(readFileSync(at('teams/a-b/notes/n.md'), 'utf8')).toBe('x');
  });

  it('leave no empty namespace behind', async () => {
    const { vault, at } = world;
    await vault.ensureTeam('lab', 'a');
    await vault.ensureTeam('lab', 'b');
    await vault.removeTeam('lab', 'a');
    expect(readdirSync(at('namespaces/lab/teams'))).toEqual(['b']);
    await vault.removeTeam('lab', 'b');
    expect(readdirSync(at(''))).toEqual(['.agentiso']);
  });

  it('have names, not paths', async () => {
    expect(await refusal(world.vault.removeTeam('default', '..'))).toMatch(/^Invalid/);
    expect(await refusal(world.vault.removeTeam('default', ''))).toMatch(/^Invalid/);
    expect(await refusal(world.vault.ensureTeam('../x', 'a'))).toMatch(/^Invalid/);
  });
});
