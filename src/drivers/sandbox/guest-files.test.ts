import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureGuestFiles, findGuestFiles, guestFilesIn } from './guest-files.ts';

describe('the files of the guest agent', () => {
  let base: string;
  let folder: string;
  let agent: string;
  let pack: string;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'agentiso-guest-files-'));
    folder = join(base, 'folder');
    agent = join(base, 'agent.cjs');
    pack = join(base, 'agent.pack');
    await mkdir(folder);
    for (const path of [agent, pack]) {
      await writeFile(path, `first ${path}`);
      await chmod(path, 0o644);
    }
  });

  afterEach(() => rm(base, { recursive: true }));

  it('are two where a pack lies beside the agent, else one', async () => {
    expect(await findGuestFiles(agent)).toEqual({ guestAgent: agent, guestPack: pack });
    await rm(pack);
    expect(await findGuestFiles(agent)).toEqual({ guestAgent: agent });
    expect(guestFilesIn('/mnt', { guestAgent: agent })).toEqual({ guestAgent: '/mnt/guest-agent.cjs' });
    expect(await findGuestFiles('/dev/null')).toEqual({ guestAgent: '/dev/null' });
  });

  it('are three with the command for the programs inside, which stays one that can be run', async () => {
    const team = join(base, 'bin', 'team');
    await mkdir(join(base, 'bin'));
    await writeFile(team, '#!/bin/sh');
    const own = guestFilesIn(folder, { guestAgent: agent, guestPack: pack, teamCommand: team });
    expect(own).toMatchObject({ teamCommand: join(folder, 'team') });
    for (const [mode, isSame] of [
      [0o755, true],
      [0o775, false],
    ] as const) {
      await chmod(team, mode);
      const found = await findGuestFiles(agent);
      expect(found).toEqual({ guestAgent: agent, guestPack: pack, teamCommand: team });
      await ensureGuestFiles(folder, found);
      const { ino, mode: ownMode } = await stat(own.teamCommand ?? '');
      expect([ino === (await stat(team)).ino, ownMode & 0o777]).toEqual([isSame, 0o755]);
    }
  });

  it('take no room in a folder, and stay as they are when another version is installed', async () => {
    const own = guestFilesIn(folder, { guestAgent: agent, guestPack: pack });
    await ensureGuestFiles(folder, await findGuestFiles(agent));
    expect((await stat(own.guestPack ?? '')).ino).toBe((await stat(pack)).ino);
    await writeFile(`${pack}.new`, 'second');
    await rename(`${pack}.new`, pack);
    expect(await readFile(own.guestPack ?? '', 'utf8')).toBe(`first ${pack}`);
    await ensureGuestFiles(folder, await findGuestFiles(agent));
    expect(await readFile(own.guestPack ?? '', 'utf8')).toBe('second');
  });

  it.each([
    ['others can write it', 0o666],
    ['others cannot read it', 0o600],
  ])('are a copy that everybody can read where %s', async (_, mode) => {
    await chmod(pack, mode);
    const { guestPack = '' } = guestFilesIn(folder, { guestAgent: agent, guestPack: pack });
    await ensureGuestFiles(folder, await findGuestFiles(agent));
    expect((await stat(guestPack)).ino).not.toBe((await stat(pack)).ino);
    expect((await stat(guestPack)).mode & 0o777).toBe(0o644);
    expect((await stat(pack)).mode & 0o777).toBe(mode);
  });
});
