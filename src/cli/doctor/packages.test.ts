import { describe, expect, it } from 'vitest';
import { detectPackageManager, fixText } from './packages.ts';

describe('detectPackageManager', () => {
  it.each([
    { path: '/usr/bin/apt-get', want: 'apt' },
    { path: '/usr/bin/dnf5', want: 'dnf' },
    { path: '/usr/bin/pacman', want: 'pacman' },
    { path: '/sbin/apk', want: 'apk' },
    { path: '/home/linuxbrew/.linuxbrew/bin/brew', want: 'brew' },
    { path: '/usr/bin/other', want: undefined },
  ])('$path: $want', ({ path, want }) => {
    expect(detectPackageManager((each) => each === path)).toBe(want);
  });
});

describe('fixText', () => {
  it.each([
    { install: 'bubblewrap', manager: 'apt', want: 'apt-get install bubblewrap' },
    { install: 'qemu', manager: 'apt', want: 'apt-get install qemu-system-x86' },
    { install: 'qemu', manager: 'dnf', want: 'dnf install qemu-system-x86-core' },
    { install: 'nftables', manager: 'pacman', want: 'pacman -S nftables' },
    { install: 'qemu', manager: 'apk', want: 'apk add qemu-system-x86_64' },
    { install: 'kubectl', manager: 'brew', want: 'brew install kubernetes-cli' },
    { install: 'kubectl', manager: 'apt', want: 'see https://kubernetes.io/docs/tasks/tools/' },
    { install: 'bubblewrap', manager: 'brew', want: 'install bubblewrap' },
    { install: 'git', manager: undefined, want: 'install git' },
  ] as const)('$install by $manager: $want', ({ install, manager, want }) => {
    expect(fixText({ install }, manager)).toBe(want);
  });

  it('is the advice where there is some', () => {
    expect(fixText({ advice: 'do this' }, 'apt')).toBe('do this');
  });
});
