/** The kernel modules that a guest needs before it can reach its disk, and its host. Pure. */

/**
 * `any`: whatever the machine is. mmio, pci: only those of the bus that the devices are on are loaded. vsock: only where the host comes in that
 * way, because others would boot more slowly for nothing.
 */
export type Wanted = 'any' | 'mmio' | 'pci' | 'vsock';

export interface BootModule {
  readonly on: Wanted;
  /** Below lib/modules/RELEASE/kernel. */
  readonly path: string;
}

/** They are not stripped: Debian's carry no debugging data to speak of, but a signature, which stripping would remove. */
export const BOOT_MODULES: readonly BootModule[] = [
  { on: 'any', path: 'drivers/virtio/virtio.ko' },
  { on: 'any', path: 'drivers/virtio/virtio_ring.ko' },
  { on: 'mmio', path: 'drivers/virtio/virtio_mmio.ko' },
  { on: 'pci', path: 'drivers/virtio/virtio_pci.ko' },
  { on: 'any', path: 'drivers/block/virtio_blk.ko' },
  { on: 'any', path: 'drivers/char/virtio_console.ko' },
  { on: 'any', path: 'drivers/net/virtio_net.ko' },
  { on: 'any', path: 'drivers/char/hw_random/virtio-rng.ko' },
  { on: 'any', path: 'fs/overlayfs/overlay.ko' },
  { on: 'vsock', path: 'net/vmw_vsock/vmw_vsock_virtio_transport.ko' },
];

/**
 * Each after all that it needs, which is loaded where it is, also where nobody has named it. A kernel package that is only unpacked has no list of
 * dependencies, and from one version to the next they change: two modules have been seen to change places. So each is asked.
 */
export function inLoadOrder(
  modules: readonly BootModule[],
  { pathOf, needsOf }: { pathOf(name: string): string; needsOf(path: string): readonly string[] },
): BootModule[] {
  const order = new Map<string, BootModule>();
  const visit = ({ on, path }: BootModule, wantedBy: readonly string[]): void => {
    if (wantedBy.includes(path)) throw new Error(`${path} needs itself`);
    const known = order.get(path);
    if (known !== undefined && (known.on === on || known.on === 'any')) return;
    for (const name of needsOf(path)) visit({ on, path: pathOf(name) }, [...wantedBy, path]);
    // Whoever is wanted on two conditions is loaded always, and keeps its place: those after it need it.
    order.set(path, { on: known === undefined ? on : 'any', path });
  };
  for (const module of modules) visit(module, []);
  return [...order.values()];
}

/** What the kernel calls the modules that this one needs, as the file itself says. */
export function needsOf(file: Buffer): readonly string[] {
  const at = file.indexOf('\0depends=');
  if (at < 0) return [];
  const begin = at + '\0depends='.length;
  return file
    .toString('latin1', begin, file.indexOf(0, begin))
    .split(',')
    .filter((name) => name !== '');
}

/** What the first init reads: one line for each, `ON FILE`. */
export function moduleList(modules: readonly BootModule[]): string {
  return modules.map(({ on, path }) => `${on} ${moduleName(path)}\n`).join('');
}

export function moduleName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** As the kernel calls it: file names may have other hyphens. */
export function kernelName(path: string): string {
  return moduleName(path).replace(/\.ko$/, '').replaceAll('-', '_');
}
