import { describe, expect, it } from 'vitest';
import { archiveName, flatIndex, kernelPackage, parseSimulation, parseStanzas } from './packages.ts';

const SIMULATION = `Reading package lists...
The following NEW packages will be installed:
  git libc6
Inst gcc-12-base (12.2.0-14 Debian:12.15/oldstable [amd64])
Inst libc6 (2.36-9 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64]) []
Inst perl-base [5.36.0-7] (5.36.0-7+deb12u1 Debian:12.15/oldstable [amd64]) [git:amd64 ]
Inst git-man (1:2.39.5 Debian:12.15/oldstable [all])
Conf libc6 (2.36-9 Debian:12.15/oldstable [amd64])
`;

const SHOW = `Package: git
Version: 1:2.39.5-0+deb12u3
Architecture: amd64
Depends: libc6 (>= 2.34)
Filename: pool/main/g/git/git_2.39.5-0+deb12u3_amd64.deb
Size: 7264380
SHA256: 637a
Description: revision control
 .
 more

Package: apt
Version: 2.6.2
Architecture: amd64
Filename: pool/main/a/apt/apt_2.6.2_amd64.deb
Size: 1
SHA256: 11ff

`;

describe('parseSimulation', () => {
  it('takes what would be installed, with exact versions', () => {
    expect(parseSimulation(SIMULATION)).toEqual([
      'gcc-12-base=12.2.0-14',
      'libc6=2.36-9',
      'perl-base=5.36.0-7+deb12u1',
      'git-man=1:2.39.5',
    ]);
  });
});

describe('parseStanzas', () => {
  it('reads what the index says of each, in the order of names', () => {
    expect(parseStanzas(SHOW).map(({ name, version, sha256, size }) => [name, version, sha256, size])).toEqual([
      ['apt', '2.6.2', '11ff', 1],
      ['git', '1:2.39.5-0+deb12u3', '637a', 7_264_380],
    ]);
  });

  it('refuses a package without a checksum', () => {
    expect(() => parseStanzas(SHOW.replace('SHA256: 11ff\n', ''))).toThrow('SHA256');
  });
});

describe('flatIndex', () => {
  it('leads to the names under which apt keeps packages, and leaves the rest alone', () => {
    const index = flatIndex(parseStanzas(SHOW));
    expect(index).toContain('Filename: ./git_1%3a2.39.5-0+deb12u3_amd64.deb\nSize: 7264380\nSHA256: 637a');
    expect(index.split('\n\n')).toHaveLength(2);
    expect(parseStanzas(index).map(archiveName)).toEqual(['apt_2.6.2_amd64.deb', 'git_1%3a2.39.5-0+deb12u3_amd64.deb']);
  });
});

describe('kernelPackage', () => {
  it.each([
    {
      text: 'Package: linux-image-cloud-amd64\nDepends: linux-image-6.1.0-54-cloud-amd64 (= 6.1.190-1)\n',
      want: 'linux-image-6.1.0-54-cloud-amd64=6.1.190-1',
    },
    { text: 'Depends: x (>= 1), linux-image-6.12-cloud-amd64 (= 6.12-1)\n', want: 'linux-image-6.12-cloud-amd64=6.12-1' },
    { text: 'Package: other\nDepends: libc6\n', want: undefined },
  ])('finds $want', ({ text, want }) => {
    expect(kernelPackage(text)).toBe(want);
  });
});
