/**
 * Archives in the format that the kernel unpacks at boot (newc). Pure: the same entries give the same bytes. The kernel takes several
 * archives one after the other, so parts that change at different times are made apart and put together.
 */

export interface CpioEntry {
  /** Relative to the root, without a leading slash. */
  readonly path: string;
  /** Type and permissions, as in stat. */
  readonly mode: number;
  /** Of a file; of a link, where it points. */
  readonly data?: Uint8Array;
}

const DIRECTORY = 0o040000;
const FILE = 0o100000;
const LINK = 0o120000;
const TRAILER = 'TRAILER!!!';
const ALIGNMENT = 4;

export function directory(path: string, permissions = 0o755): CpioEntry {
  return { path, mode: DIRECTORY | permissions };
}

export function file(path: string, data: Uint8Array | string, permissions = 0o644): CpioEntry {
  return { path, mode: FILE | permissions, data: typeof data === 'string' ? Buffer.from(data) : data };
}

export function link(path: string, target: string): CpioEntry {
  return { path, mode: LINK | 0o777, data: Buffer.from(target) };
}

/** A folder must stand before what is in it: the kernel makes none by itself. */
export function cpioArchive(entries: readonly CpioEntry[]): Buffer {
  const seen = new Set<string>();
  for (const { path, mode } of entries) {
    if (path === '' || path.startsWith('/') || path.includes('\0')) throw new Error(`not a path of an archive: ${JSON.stringify(path)}`);
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (parent !== '' && !seen.has(parent)) throw new Error(`${path} stands before its folder`);
    if ((mode & DIRECTORY) === DIRECTORY && (mode & FILE) !== FILE) seen.add(path);
  }
  const parts = entries.flatMap((entry, at) => record(entry, at + 1));
  return Buffer.concat([...parts, ...record({ path: TRAILER, mode: 0 }, 0)]);
}

function record({ path, mode, data = new Uint8Array() }: CpioEntry, inode: number): readonly Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const links = (mode & DIRECTORY) === DIRECTORY && (mode & FILE) !== FILE ? 2 : 1;
  // inode, mode, uid, gid, links, mtime, size, device twice two, length of the name, checksum that newc does not use
  const fields = [inode, mode, 0, 0, links, 0, data.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${fields.map((value) => value.toString(16).padStart(8, '0').toUpperCase()).join('')}`);
  return [header, name, padding(header.length + name.length), data, padding(data.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);
}
