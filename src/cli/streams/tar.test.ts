import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatHeader, padding } from './tar-header.ts';
import { readTar } from './tar-read.ts';
import { writeTar } from './tar-write.ts';
import { placeOf, unpackInto } from './unpack.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-tar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LONG = `${'n'.repeat(90)}/${'ö'.repeat(40)}`;

async function archiveOf(path: string, name: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of writeTar(path, name, () => {})) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function unpack(archive: Buffer, target: string, { base = 't', size = 1_000 } = {}): Promise<string[]> {
  const warnings: string[] = [];
  const chunks = Array.from({ length: Math.ceil(archive.length / size) }, (_, at) => archive.subarray(at * size, (at + 1) * size));
  await readTar(Readable.from(chunks), unpackInto({ base, target, warn: (text) => warnings.push(text) }));
  return warnings;
}

function makeTree(): Buffer {
  mkdirSync(join(folder, 't', 'n'.repeat(90)), { recursive: true });
  const bytes = Buffer.from(Array.from({ length: 100_001 }, (_, at) => (at * 3) & 0xff));
  writeFileSync(join(folder, 't', LONG), bytes);
  chmodSync(join(folder, 't', LONG), 0o640);
  writeFileSync(join(folder, 't', 'empty'), '');
  return bytes;
}

describe('an archive of ours', () => {
  it('is read by tar', async () => {
    const bytes = makeTree();
    writeFileSync(join(folder, 'a.tar'), await archiveOf(join(folder, 't'), 'named'));
    mkdirSync(join(folder, 'out'));
    execFileSync('tar', ['-xf', join(folder, 'a.tar'), '-C', join(folder, 'out')]);
    expect(readFileSync(join(folder, 'out', 'named', LONG)).equals(bytes)).toBe(true);
    expect(lstatSync(join(folder, 'out', 'named', LONG)).mode & 0o777).toBe(0o640);
    expect(lstatSync(join(folder, 'out', 'named', 'empty')).size).toBe(0);
  });
});

describe('an archive of tar', () => {
  it.each(['gnu', 'pax', 'ustar'])('in the format %s is read by us, however it is cut', async (format) => {
    const bytes = makeTree();
    const archive = execFileSync('tar', ['-cf', '-', `--format=${format}`, '-C', folder, './t'], { maxBuffer: 10_000_000 });
    for (const size of [7, 511, 512, 100_000]) {
      const target = join(folder, `out-${size}`);
      expect(await unpack(archive, target, { size })).toEqual([]);
      expect(readFileSync(join(target, LONG)).equals(bytes)).toBe(true);
      expect(lstatSync(join(target, LONG)).mode & 0o777).toBe(0o640);
    }
  });

  it('leaves links out and says so', async () => {
    makeTree();
    symlinkSync('/etc/passwd', join(folder, 't', 'link'));
    const archive = execFileSync('tar', ['-cf', '-', '-C', folder, './t'], { maxBuffer: 10_000_000 });
    expect(await unpack(archive, join(folder, 'out'))).toEqual(['skipping "./t/link": it is neither a file nor a folder\n']);
    expect(existsSync(join(folder, 'out', 'link'))).toBe(false);
  });
});

const entry = (name: string, content = 'x') =>
  Buffer.concat([
    formatHeader({ name, type: 'file', mode: 0o644, size: content.length, time: 0 }),
    Buffer.from(content),
    padding(content.length),
    Buffer.alloc(1_024),
  ]);

describe('an archive that means harm', () => {
  it.each(['../evil', 't/../../evil', '/etc/evil', 't/a/../../../evil', 'other/evil', `t/${'a/'.repeat(60)}../../x`])(
    '%s goes nowhere',
    async (name) => {
      await expect(unpack(entry(name), join(folder, 'out'))).rejects.toThrow('a place that was not asked for');
      expect(existsSync(join(folder, 'evil'))).toBe(false);
    },
  );

  it('does not leave through a link that is there', async () => {
    mkdirSync(join(folder, 'out'));
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'out', 'door'));
    await expect(unpack(entry('t/door/evil'), join(folder, 'out'))).rejects.toThrow('leads out of');
    symlinkSync(join(folder, 'elsewhere', 'evil'), join(folder, 'out', 'file'));
    await expect(unpack(entry('t/file'), join(folder, 'out'))).rejects.toThrow('ELOOP');
    expect(existsSync(join(folder, 'elsewhere', 'evil'))).toBe(false);
  });

  it('breaks off, or is none', async () => {
    await expect(unpack(entry('t/a', 'x'.repeat(2_000)).subarray(0, 1_000), join(folder, 'out'))).rejects.toThrow('breaks off');
    await expect(unpack(Buffer.alloc(1_024, 'nonsense'), join(folder, 'out'))).rejects.toThrow('no tar archive');
    const huge = formatHeader({ name: 'n'.repeat(200), type: 'file', mode: 0, size: 0, time: 0 });
    huge.write('77777777777', 124, 'latin1');
    await expect(unpack(huge, join(folder, 'out'))).rejects.toThrow();
  });
});

describe('the place of an entry', () => {
  it.each([
    ['./t', 't', ''],
    ['t/', 't', ''],
    ['./t/a//b', 't', 'a/b'],
    ['./a', '', 'a'],
    ['./', '', ''],
    ['tt/a', 't', undefined],
    ['t/..', 't', undefined],
    ['t/a\0b', 't', undefined],
  ])('%j below %j', (name, base, expected) => {
    expect(placeOf(name, base)).toBe(expected);
  });
});
