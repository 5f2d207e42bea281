import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../command.ts';
import { nameFrom } from '../commands/init.ts';
import { runCli } from '../index.ts';
import { readManifests } from '../manifests.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'agentiso-init-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function init(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const context = {
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
    signal: new AbortController().signal,
    environment: { cwd, userHome: cwd },
  } as unknown as CommandContext;
  return { code: await runCli(['init', ...args], context), ...said };
}

describe('init', () => {
  it('makes a folder with a valid team of the name of the folder, and says what comes next', async () => {
    expect(await init('My Team')).toEqual({
      code: 0,
      out: 'My Team/team.yaml created\nMy Team/.gitignore created\n',
      err: "next: agentiso up -f 'My Team'\n",
    });
    const { objects, problems } = await readManifests({ filenames: [join(cwd, 'My Team')] });
    expect(problems).toEqual([]);
    expect(objects).toMatchObject([
      { kind: 'Team', metadata: { name: 'my-team' }, spec: { roles: [{ name: 'writer' }, { name: 'checker' }] } },
    ]);
    expect(readFileSync(join(cwd, 'My Team', '.gitignore'), 'utf8')).toMatch(/^\.agentiso\/$/m);
  });

  it('leaves alone what is there, and says what a .gitignore lacks', async () => {
    writeFileSync(join(cwd, 'team.yaml'), 'mine');
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\n');
    const { code, out, err } = await init('--name', 'x');
    expect([code, out]).toEqual([0, 'team.yaml exists\n.gitignore exists\n']);
    expect(err).toContain('add a line .agentiso/ to .gitignore');
    expect(readFileSync(join(cwd, 'team.yaml'), 'utf8')).toBe('mine');
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n');
  });

  it('does the same the second time, and complains of nothing', async () => {
    await init('--name', 'x');
    const before = readFileSync(join(cwd, 'team.yaml'), 'utf8');
    expect(await init('--name', 'y')).toEqual({
      code: 0,
      out: 'team.yaml exists\n.gitignore exists\n',
      err: 'next: agentiso up -f .\n',
    });
    expect(readFileSync(join(cwd, 'team.yaml'), 'utf8')).toBe(before);
  });

  it('refuses a file in the way in one line, and writes nothing', async () => {
    writeFileSync(join(cwd, 'file'), '');
    expect(await init('file')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^agentiso: .*\/file is a file, where a folder is to be; .*\n$/),
    });
    expect(await init('file/inner')).toMatchObject({ code: 1, err: expect.stringMatching(/^agentiso: .*\n$/) });
    mkdirSync(join(cwd, 'other', '.gitignore'), { recursive: true });
    expect(await init('other')).toMatchObject({ code: 1, err: expect.stringContaining('.gitignore is a folder') });
    expect(existsSync(join(cwd, 'other', 'team.yaml'))).toBe(false);
  });

  it('does not write through a link that leads nowhere', async () => {
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'team.yaml'));
    expect((await init()).out).toContain('team.yaml exists\n');
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false);
  });

  it.each(['Upper', 'a'.repeat(41), '-x', ''])('refuses %j as a name', async (name) => {
    const { code, err } = await init('--name', name);
    expect([code, err]).toEqual([2, expect.stringContaining('is no name for a team')]);
    expect(existsSync(join(cwd, 'team.yaml'))).toBe(false);
  });
});

describe('nameFrom', () => {
  it.each([
    { text: 'My Project_2', want: 'my-project-2' },
    { text: 'Müller & Söhne', want: 'muller-sohne' },
    { text: '...', want: 'team' },
    { text: '', want: 'team' },
    { text: `${'a'.repeat(39)}-b`, want: 'a'.repeat(39) },
  ])('$text: $want', ({ text, want }) => {
    expect(nameFrom(text)).toBe(want);
  });
});
