/** The kernel modules that a guest needs before it can reach its disk, in the order in which they need each other. Pure. */

/** `any`: whatever the machine is. Of the others only those of the bus that the devices are on are loaded. */
export type Bus = 'any' | 'mmio' | 'pci';

export interface BootModule {
  readonly bus: Bus;
  /** Below lib/modules/RELEASE/kernel. */
  readonly path: string;
}

/**
 * Loaded by hand, because a kernel package that is only unpacked has no list of dependencies. They are not stripped: Debian's carry no
 * debugging data to speak of, but a signature, which stripping would remove.
 */
export const BOOT_MODULES: readonly BootModule[] = [
  { bus: 'any', path: 'drivers/virtio/virtio.ko' },
  { bus: 'any', path: 'drivers/virtio/virtio_ring.ko' },
  { bus: 'mmio', path: 'drivers/virtio/virtio_mmio.ko' },
  { bus: 'pci', path: 'drivers/virtio/virtio_pci_modern_dev.ko' },
  { bus: 'pci', path: 'drivers/virtio/virtio_pci_legacy_dev.ko' },
  { bus: 'pci', path: 'drivers/virtio/virtio_pci.ko' },
  { bus: 'any', path: 'drivers/block/virtio_blk.ko' },
  { bus: 'any', path: 'drivers/char/virtio_console.ko' },
  { bus: 'any', path: 'net/core/failover.ko' },
  { bus: 'any', path: 'drivers/net/net_failover.ko' },
  { bus: 'any', path: 'drivers/net/virtio_net.ko' },
  { bus: 'any', path: 'drivers/char/hw_random/virtio-rng.ko' },
  { bus: 'any', path: 'fs/overlayfs/overlay.ko' },
];

/** What the first init reads: one line for each, `BUS FILE`. */
export function moduleList(modules: readonly BootModule[] = BOOT_MODULES): string {
  return modules.map(({ bus, path }) => `${bus} ${moduleName(path)}\n`).join('');
}

export function moduleName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
