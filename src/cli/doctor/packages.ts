/** How a missing program is installed, in the words of the machine's own package manager. */
import { existsSync } from 'node:fs';
import type { Fix } from './check.ts';

export type PackageManager = 'apt' | 'dnf' | 'pacman' | 'apk' | 'brew';
export type PackageName = 'bubblewrap' | 'git' | 'nftables' | 'qemu' | 'util-linux' | 'kubectl' | 'nodejs' | 'mmdebstrap';

const PLACES: readonly (readonly [PackageManager, readonly string[]])[] = [
  ['apt', ['/usr/bin/apt-get']],
  ['dnf', ['/usr/bin/dnf', '/usr/bin/dnf5']],
  ['pacman', ['/usr/bin/pacman']],
  ['apk', ['/sbin/apk', '/usr/bin/apk']],
  ['brew', ['/opt/homebrew/bin/brew', '/usr/local/bin/brew', '/home/linuxbrew/.linuxbrew/bin/brew']],
];

const INSTALL: Readonly<Record<PackageManager, string>> = {
  apt: 'apt-get install',
  dnf: 'dnf install',
  pacman: 'pacman -S',
  apk: 'apk add',
  brew: 'brew install',
};

/** Where a name differs from ours; null: not to be had this way. */
const NAMES: Readonly<Record<PackageManager, Readonly<Partial<Record<PackageName, string | null>>>>> = {
  apt: { qemu: 'qemu-system-x86', kubectl: null, nodejs: null },
  dnf: { qemu: 'qemu-system-x86-core', kubectl: null },
  pacman: { qemu: 'qemu-system-x86' },
  apk: { qemu: 'qemu-system-x86_64' },
  brew: { kubectl: 'kubernetes-cli', nodejs: 'node', bubblewrap: null, nftables: null, 'util-linux': null, mmdebstrap: null },
};

const ELSEWHERE: Readonly<Partial<Record<PackageName, string>>> = {
  kubectl: 'see https://kubernetes.io/docs/tasks/tools/',
  nodejs: 'see https://nodejs.org/en/download',
};

export function detectPackageManager(exists: (path: string) => boolean = existsSync): PackageManager | undefined {
  return PLACES.find(([, paths]) => paths.some(exists))?.[0];
}

/** One line a person can follow. */
export function fixText(fix: Fix, manager: PackageManager | undefined): string {
  if ('advice' in fix) return fix.advice;
  const name = manager && NAMES[manager][fix.install];
  if (!manager || name === null) return ELSEWHERE[fix.install] ?? `install ${fix.install}`;
  return `${INSTALL[manager]} ${name ?? fix.install}`;
}
