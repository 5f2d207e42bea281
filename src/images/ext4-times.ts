/**
 * Times in the file system of an image. mkfs takes over when each file was last changed and looked at on the machine that built it, which
 * no two builds share. Here every file gets the time of its content, and none that is younger than the recipe's.
 */
import type { FileHandle } from 'node:fs/promises';
import { AgentisoError } from '#lib/errors.ts';

interface Layout {
  readonly inodeSize: number;
  readonly inodesPerGroup: number;
  /** Byte offset of each group's inodes. */
  readonly tables: readonly number[];
}

const SUPERBLOCK = 1_024;
const MAGIC = 0xef53;
const INCOMPAT_META_BG = 0x10;
const INCOMPAT_64BIT = 0x80;
const RO_COMPAT_METADATA_CSUM = 0x400;
/** Offsets in an inode: seconds of atime, ctime, mtime; then the finer parts of ctime, mtime, atime, and the birth time. */
const [ATIME, CTIME, MTIME] = [0x08, 0x0c, 0x10];
const EXTRA_SIZE = 0x80;
const [CTIME_EXTRA, MTIME_EXTRA, ATIME_EXTRA, BIRTH, BIRTH_EXTRA] = [0x84, 0x88, 0x8c, 0x90, 0x94];
const PLAIN_INODE = 128;

export async function settleTimes(image: FileHandle, epochSeconds: number): Promise<void> {
  const { inodeSize, inodesPerGroup, tables } = await readLayout(image);
  const table = Buffer.alloc(inodeSize * inodesPerGroup);
  for (const position of tables) {
    await image.read(table, 0, table.length, position);
    let isChanged = false;
    for (let at = 0; at < table.length; at += inodeSize) {
      isChanged = settleInode(table.subarray(at, at + inodeSize), epochSeconds) || isChanged;
    }
    if (isChanged) await image.write(table, 0, table.length, position);
  }
}

/** False: nobody uses it. */
export function settleInode(inode: Buffer, epochSeconds: number): boolean {
  const mode = inode.readUInt16LE(0);
  if (mode === 0) return false;
  const seconds = Math.min(inode.readUInt32LE(MTIME), epochSeconds);
  for (const offset of [ATIME, CTIME, MTIME]) inode.writeUInt32LE(seconds, offset);
  if (inode.length <= PLAIN_INODE || inode.readUInt16LE(EXTRA_SIZE) < BIRTH_EXTRA + 4 - PLAIN_INODE) return true;
  for (const offset of [CTIME_EXTRA, MTIME_EXTRA, ATIME_EXTRA, BIRTH_EXTRA]) inode.writeUInt32LE(0, offset);
  inode.writeUInt32LE(seconds, BIRTH);
  return true;
}

async function readLayout(image: FileHandle): Promise<Layout> {
  const superblock = Buffer.alloc(1_024);
  await image.read(superblock, 0, superblock.length, SUPERBLOCK);
  const incompatible = superblock.readUInt32LE(0x60);
  if (superblock.readUInt16LE(0x38) !== MAGIC) throw unexpected('it is none');
  if (incompatible & INCOMPAT_META_BG) throw unexpected('its groups are described in several places');
  if (superblock.readUInt32LE(0x64) & RO_COMPAT_METADATA_CSUM) throw unexpected('its inodes have checksums');
  const blockSize = 1_024 << superblock.readUInt32LE(0x18);
  const is64 = (incompatible & INCOMPAT_64BIT) !== 0;
  const descriptorSize = is64 ? superblock.readUInt16LE(0xfe) : 32;
  const inodesPerGroup = superblock.readUInt32LE(0x28);
  const groups = Math.ceil(superblock.readUInt32LE(0) / inodesPerGroup);
  const descriptors = Buffer.alloc(groups * descriptorSize);
  await image.read(descriptors, 0, descriptors.length, (superblock.readUInt32LE(0x14) + 1) * blockSize);
  const tables = Array.from({ length: groups }, (_, group) => {
    const at = group * descriptorSize;
    const high = descriptorSize >= 64 ? descriptors.readUInt32LE(at + 0x28) : 0;
    return (high * 2 ** 32 + descriptors.readUInt32LE(at + 0x08)) * blockSize;
  });
  return { inodeSize: superblock.readUInt16LE(0x58), inodesPerGroup, tables };
}

function unexpected(why: string): AgentisoError {
  return new AgentisoError('Internal', `not the ext4 file system that mkfs was asked for: ${why}`);
}
