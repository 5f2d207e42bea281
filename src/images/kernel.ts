/** The kernel part of an image: the kernel as QEMU starts it, and the beginning of the initramfs with busybox and the drivers of the root's disk. */
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AgentisoError } from '#lib/errors.ts';
import { cpioArchive, directory, file } from './cpio.ts';
import { BOOT_MODULES, type BootModule, inLoadOrder, kernelName, moduleList, moduleName, needsOf } from './modules.ts';
import { findPayload, isElf } from './payload.ts';
import { run } from './run.ts';
import { requireUnpacker } from './tools.ts';

export interface KernelPlan {
  /** Empty, ours alone, and removed by the caller whatever happens. */
  readonly scratch: string;
  /** The downloaded packages of the kernel and of busybox. */
  readonly kernelArchive: string;
  readonly busyboxArchive: string;
  /** A folder that is there; gets vmlinux and boot.cpio. */
  readonly target: string;
  readonly signal: AbortSignal;
}

/** Gives the kernel's release, as `uname -r` says it inside. */
export async function makeKernel({ scratch, kernelArchive, busyboxArchive, target, signal }: KernelPlan): Promise<string> {
  const [kernel, tools] = [join(scratch, 'kernel'), join(scratch, 'tools')];
  await mkdir(kernel);
  await mkdir(tools);
  await run(['dpkg-deb', '--extract', kernelArchive, kernel], { signal });
  await run(['dpkg-deb', '--extract', busyboxArchive, tools], { signal });
  const image = (await readdir(join(kernel, 'boot'))).find((name) => name.startsWith('vmlinuz-'));
  if (image === undefined) throw new AgentisoError('IoError', 'the package of the kernel has no kernel in it');
  const release = image.slice('vmlinuz-'.length);
  await writeFile(join(target, 'vmlinux'), await unpackKernel(await readFile(join(kernel, 'boot', image)), signal));
  const modules = join(await libraryOf(kernel), 'modules', release, 'kernel');
  await writeFile(join(target, 'boot.cpio'), await bootArchive(modules, await readFile(join(tools, 'bin', 'busybox'))));
  return release;
}

export async function unpackKernel(image: Buffer, signal: AbortSignal): Promise<Buffer> {
  const payload = findPayload(image);
  const kernel = await unpack(payload.compression, payload.bytes, signal);
  if (isElf(kernel) && kernel.length === payload.unpackedBytes) return kernel;
  throw new AgentisoError(
    'IoError',
    `the kernel's image cannot be used: ${kernel.length} bytes came out of it, ${payload.unpackedBytes} should`,
  );
}

async function unpack(compression: ReturnType<typeof findPayload>['compression'], bytes: Buffer, signal: AbortSignal): Promise<Buffer> {
  switch (compression) {
    case 'none':
      return bytes;
    case 'gzip':
      return gunzipSync(bytes);
    // Node 20 knows none of these.
    case 'xz':
    case 'zstd':
    case 'lz4':
      await requireUnpacker(compression);
      return run([compression, '-dc'], { signal, input: bytes });
  }
}

async function bootArchive(modules: string, busybox: Buffer): Promise<Buffer> {
  const drivers = await readModules(modules);
  return cpioArchive([
    ...['bin', 'modules', 'dev', 'proc', 'sys', 'ro', 'rw', 'newroot'].map((name) => directory(name)),
    file('bin/busybox', busybox, 0o755),
    ...drivers.map(({ path, content }) => file(`modules/${moduleName(path)}`, content)),
    file('modules/list', moduleList(drivers)),
  ]);
}

/** With what they need, in the order in which they are loaded. */
async function readModules(folder: string): Promise<readonly (BootModule & { readonly content: Buffer })[]> {
  const paths = new Map((await readdir(folder, { recursive: true })).filter(isModule).map((path) => [kernelName(path), path]));
  const contents = new Map<string, Buffer>();
  const read = (path: string): Buffer => {
    const content = contents.get(path) ?? readFileSync(join(folder, path));
    contents.set(path, content);
    return content;
  };
  const pathOf = (name: string): string => {
    const path = paths.get(name);
    if (path === undefined) throw new AgentisoError('IoError', `the package of the kernel has no module ${name}`);
    return path;
  };
  const order = inLoadOrder(BOOT_MODULES, { pathOf, needsOf: (path) => needsOf(read(path)) });
  return order.map((module) => ({ ...module, content: read(module.path) }));
}

function isModule(path: string): boolean {
  return path.endsWith('.ko');
}

/** Newer packages have it below usr. */
async function libraryOf(kernel: string): Promise<string> {
  const names = await readdir(kernel);
  return names.includes('lib') ? join(kernel, 'lib') : join(kernel, 'usr', 'lib');
}
