import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unpackKernel } from './kernel.ts';
import { findPayload } from './payload.ts';

const kernel = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46]), Buffer.alloc(50_000, 'kernel ')]);

/** A boot image as Linux builds it, with this payload. */
function bootImage(payload: Buffer, { sectors = 3, offset = 100 } = {}): Buffer {
  const image = Buffer.alloc(((sectors || 4) + 1) * 512 + offset + payload.length + 64);
  image[0x1f1] = sectors;
  image.write('HdrS', 0x202, 'latin1');
  image.writeUInt16LE(0x020f, 0x206);
  image.writeUInt32LE(offset, 0x248);
  image.writeUInt32LE(payload.length, 0x24c);
  payload.copy(image, ((sectors || 4) + 1) * 512 + offset);
  return image;
}

/** All but gzip, which has it itself, are followed by the length of what comes out. */
function withLength(packed: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(kernel.length);
  return Buffer.concat([packed, length]);
}

const { signal } = new AbortController();

describe('unpackKernel', () => {
  it.each([
    { name: 'plain', payload: kernel },
    { name: 'gzip', payload: gzipSync(kernel) },
  ])('takes out a kernel that is $name', async ({ payload }) => {
    expect((await unpackKernel(bootImage(payload), signal)).equals(kernel)).toBe(true);
    expect((await unpackKernel(bootImage(payload, { sectors: 0 }), signal)).equals(kernel)).toBe(true);
  });

  it.each([
    { tool: 'xz', args: ['--check=crc32', '-c'] },
    { tool: 'zstd', args: ['-c'] },
    { tool: 'lz4', args: ['-l', '-c'] },
  ])('takes out a kernel that $tool has packed', async ({ tool, args }) => {
    const { error, stdout } = spawnSync(tool, args, { input: kernel });
    // A machine without the tool is told so by the build.
    if (error) return;
    expect((await unpackKernel(bootImage(withLength(stdout)), signal)).equals(kernel)).toBe(true);
  });

  it('refuses one that is not as long as it says', async () => {
    const payload = gzipSync(kernel);
    payload.writeUInt32LE(kernel.length - 1, payload.length - 4);
    await expect(unpackKernel(bootImage(payload), signal)).rejects.toThrow();
  });
});

describe('findPayload', () => {
  it.each([
    { name: 'no boot image', image: Buffer.alloc(4_096), why: 'no Linux boot image' },
    { name: 'a short file', image: Buffer.from('MZ'), why: 'no Linux boot image' },
    { name: 'a cut image', image: bootImage(kernel).subarray(0, 20_000), why: 'cut short' },
    { name: 'an unknown compression', image: bootImage(Buffer.alloc(100, 'BZh9')), why: 'unknown way' },
  ])('refuses $name', ({ image, why }) => {
    expect(() => findPayload(image)).toThrow(why);
  });
});
