import { describe, expect, it } from 'vitest';
import { BOOT_MODULES, type BootModule, inLoadOrder, kernelName, moduleList, needsOf } from './modules.ts';

const FILES: Readonly<Record<string, string>> = {
  ring: 'virtio/ring.ko',
  virtio: 'virtio/virtio.ko',
  disk: 'block/disk.ko',
  vsock: 'net/vsock.ko',
};

function order(modules: readonly BootModule[], needs: Readonly<Record<string, readonly string[]>>): string[] {
  const means = { pathOf: (name: string) => FILES[name] ?? '', needsOf: (path: string) => needs[kernelName(path)] ?? [] };
  return moduleList(inLoadOrder(modules, means)).trimEnd().split('\n');
}

const module = (name: string, on: BootModule['on'] = 'any'): BootModule => ({ on, path: FILES[name] ?? '' });

describe('the order of modules', () => {
  // Of Debian 12: until 6.1.190 none of the first two needed the other, since 6.1.192 virtio needs the ring, and does not load before it.
  it.each([
    { needs: { disk: ['virtio', 'ring'] }, expected: ['any virtio.ko', 'any ring.ko', 'any disk.ko'] },
    { needs: { virtio: ['ring'], disk: ['virtio', 'ring'] }, expected: ['any ring.ko', 'any virtio.ko', 'any disk.ko'] },
  ])('is what this kernel needs: $expected', ({ needs, expected }) => {
    expect(order([module('virtio'), module('ring'), module('disk')], needs)).toEqual(expected);
  });

  it('has those that nobody has named, where they are needed', () => {
    expect(order([module('disk', 'pci')], { disk: ['ring'] })).toEqual(['pci ring.ko', 'pci disk.ko']);
  });

  it('loads always what is needed on two conditions', () => {
    const needs = { disk: ['ring'], vsock: ['ring'] };
    expect(order([module('disk', 'pci'), module('vsock', 'vsock')], needs)).toEqual(['any ring.ko', 'pci disk.ko', 'vsock vsock.ko']);
  });

  it('ends also where modules need each other', () => {
    expect(() => order([module('disk')], { disk: ['ring'], ring: ['disk'] })).toThrow('needs itself');
  });
});

it('reads what a module needs from its own file', () => {
  expect(needsOf(Buffer.from('\x7fELF..\0license=GPL\0depends=virtio,virtio_ring\0retpoline=Y\0'))).toEqual(['virtio', 'virtio_ring']);
  expect(needsOf(Buffer.from('\0license=GPL\0depends=\0retpoline=Y\0'))).toEqual([]);
  expect(needsOf(Buffer.from('nothing'))).toEqual([]);
});

it('asks for vsock only where it is wanted', () => {
  expect(BOOT_MODULES.filter(({ path }) => path.includes('vsock')).map(({ on }) => on)).toEqual(['vsock']);
});
