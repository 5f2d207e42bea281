/**
 * Where the real kernel is inside the file that boot loaders take. QEMU starts the plain one at once; the other would first have to
 * unpack itself, which costs seconds where the processor is emulated. Pure.
 */
import { AgentisoError } from '#lib/errors.ts';

export type Compression = 'gzip' | 'xz' | 'zstd' | 'lz4' | 'none';

export interface Payload {
  readonly compression: Compression;
  readonly bytes: Buffer;
  /** How long it is when it is unpacked. */
  readonly unpackedBytes: number;
}

/** Offsets of the boot protocol's header (Documentation/arch/x86/boot.rst of Linux). */
const SETUP_SECTORS = 0x1f1;
const MAGIC = 0x202;
const PROTOCOL = 0x206;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
/** The first version that says where the payload is. */
const NEEDED_PROTOCOL = 0x0208;
const SECTOR = 512;

const MAGICS: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['lz4', [0x02, 0x21, 0x4c, 0x18]],
  ['none', [0x7f, 0x45, 0x4c, 0x46]],
];

export function findPayload(image: Buffer): Payload {
  if (image.length < 0x250 || image.toString('latin1', MAGIC, MAGIC + 4) !== 'HdrS') throw unusable('it is no Linux boot image');
  if (image.readUInt16LE(PROTOCOL) < NEEDED_PROTOCOL) throw unusable('it is too old to say where its kernel is');
  // Zero means four: so said the first boot loaders.
  const sectors = image[SETUP_SECTORS] || 4;
  const start = (sectors + 1) * SECTOR + image.readUInt32LE(PAYLOAD_OFFSET);
  const end = start + image.readUInt32LE(PAYLOAD_LENGTH);
  if (end > image.length || end <= start) throw unusable('it is cut short');
  const bytes = image.subarray(start, end);
  const found = MAGICS.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte));
  if (!found) throw unusable(`its kernel is compressed in an unknown way (${bytes.toString('hex', 0, 6)})`);
  const [compression] = found;
  if (compression === 'none') return { compression, bytes, unpackedBytes: bytes.length };
  // The length of what comes out ends every compressed kernel. Only gzip has it as a part of its own format.
  const unpackedBytes = bytes.readUInt32LE(bytes.length - 4);
  return { compression, bytes: compression === 'gzip' ? bytes : bytes.subarray(0, -4), unpackedBytes };
}

export function isElf(bytes: Uint8Array): boolean {
  return bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
}

function unusable(why: string): AgentisoError {
  return new AgentisoError('IoError', `the kernel's image cannot be used: ${why}`, { reason: 'KernelUnusable' });
}
