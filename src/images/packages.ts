/** What apt says it would install, and what its index says about each package. Pure. */
import { AgentisoError } from '#lib/errors.ts';

export interface Package {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
  readonly size: number;
}

export interface IndexedPackage extends Package {
  /** As in the signed index. */
  readonly stanza: string;
}

/** `Inst NAME (VERSION ORIGIN [ARCHITECTURE])`, one line for each, as words that apt takes: NAME=VERSION. */
export function parseSimulation(output: string): readonly string[] {
  return [...output.matchAll(/^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) .*\[[^\]]+\]\)/gm)].map(([, name, version]) => `${name}=${version}`);
}

/** The answer of `apt-cache show`, in the order of names: which comes first in apt's is of no meaning. */
export function parseStanzas(output: string): readonly IndexedPackage[] {
  const stanzas = output.split(/\n{2,}/).filter((text) => text.trim() !== '');
  return stanzas.map(toPackage).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toPackage(stanza: string): IndexedPackage {
  const field = (name: string): string => {
    const value = new RegExp(`^${name}: (.+)$`, 'm').exec(stanza)?.[1];
    if (value === undefined) throw new AgentisoError('IoError', `apt's index has a package without ${name}: ${stanza.slice(0, 80)}`);
    return value.trim();
  };
  return {
    name: field('Package'),
    version: field('Version'),
    architecture: field('Architecture'),
    sha256: field('SHA256'),
    size: Number(field('Size')),
    stanza: stanza.trim(),
  };
}

/** The name under which apt keeps a downloaded package. */
export function archiveName({ name, version, architecture }: Package): string {
  return `${name}_${version.replaceAll(':', '%3a')}_${architecture}.deb`;
}

/**
 * The index of a repository that holds exactly these packages in one folder. Their checksums are those of the signed index, so what is
 * installed from it is what the archive published, and nothing newer that has appeared meanwhile.
 */
export function flatIndex(packages: readonly IndexedPackage[]): string {
  return packages.map((each) => `${each.stanza.replace(/^Filename: .*$/m, `Filename: ./${archiveName(each)}`)}\n`).join('\n');
}

/** From the package that always depends on the newest kernel, to that kernel: NAME=VERSION. */
export function kernelPackage(stanza: string): string | undefined {
  const [, name, version] = /^Depends: .*?\b(linux-image-\d\S*) \(= (\S+)\)/m.exec(stanza) ?? [];
  return name === undefined ? undefined : `${name}=${version}`;
}
