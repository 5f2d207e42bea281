/**
 * apt with the sources of this machine and a memory of its own, below the images directory: it sees nothing that is installed here,
 * changes nothing here, and needs no rights. What it has downloaded stays for the next build.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { archiveName, type IndexedPackage, kernelPackage, parseSimulation, parseStanzas } from './packages.ts';
import { type RunOptions, run } from './run.ts';

export interface Apt {
  /** Reads the sources' indexes anew; those that cannot be reached are used as they were. */
  update(): Promise<void>;
  /** The packages that an empty system would get, with exact versions, for these words. */
  resolve(words: readonly string[]): Promise<readonly IndexedPackage[]>;
  /** The package that a name which stands for the newest kernel leads to. */
  kernel(name: string): Promise<IndexedPackage>;
  /** Downloads what is not there yet; what was begun is gone on with. Gives the folder they are in. */
  fetch(packages: readonly IndexedPackage[], onPercent: (percent: number) => void): Promise<string>;
  /** One package without what it depends on. Gives the file. */
  fetchAlone(one: IndexedPackage): Promise<string>;
}

export async function openApt(directory: string, signal: AbortSignal): Promise<Apt> {
  const archives = join(directory, 'archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(directory, 'lists', 'partial'), { recursive: true });
  const [configuration, status] = [join(directory, 'apt.conf'), join(directory, 'status')];
  // An empty list of what is installed: every build starts from nothing.
  await writeFile(status, '');
  await writeFile(configuration, settings({ directory, archives, status }));
  // As an argument, so that it is read after the machine's own settings: its proxies stay, its folders and hooks do not.
  const call = ([program, ...words]: readonly [string, ...string[]], options: Partial<RunOptions> = {}) =>
    run([program, '-c', configuration, ...words], { signal, env: { DEBIAN_FRONTEND: 'noninteractive' }, ...options });

  return {
    async update() {
      await call(['apt-get', '-q', 'update']);
    },
    async resolve(words) {
      const simulation = await call(['apt-get', '-q', '--simulate', 'install', ...words]).catch(explainUnknown);
      const exact = parseSimulation(simulation.toString());
      const packages = parseStanzas((await call(['apt-cache', 'show', ...exact])).toString());
      if (packages.length === exact.length && packages.length > 0) return packages;
      throw new AgentisoError('IoError', `apt would install ${exact.length} packages and knows ${packages.length} of them`);
    },
    async kernel(name) {
      const newest = (await call(['apt-cache', '--no-all-versions', 'show', name]).catch(explainUnknown)).toString();
      const exact = kernelPackage(newest);
      if (exact === undefined) throw new AgentisoError('NotFound', `the package ${name} does not say which kernel it stands for`);
      const [found] = parseStanzas((await call(['apt-cache', 'show', exact])).toString());
      if (found) return found;
      throw new AgentisoError('NotFound', `no apt source of this machine has ${exact}`, { reason: 'PackageNotFound' });
    },
    async fetch(packages, onPercent) {
      const onLine = (line: string) => {
        const percent = /^dlstatus:\d+:([\d.]+):/.exec(line)?.[1];
        if (percent !== undefined) onPercent(Number(percent));
      };
      const command = ['apt-get', '-qq', '--yes', '--download-only', '-o', 'APT::Status-Fd=2', 'install'] as const;
      await call([...command, ...packages.map(exactWord)], { onLine });
      return archives;
    },
    async fetchAlone(one) {
      const path = join(archives, archiveName(one));
      // apt compares it with the index and leaves it alone if it is whole.
      await call(['apt-get', '-qq', 'download', exactWord(one)], { cwd: archives });
      return path;
    },
  };
}

function exactWord({ name, version, architecture }: IndexedPackage): string {
  return `${name}${architecture === 'all' ? '' : `:${architecture}`}=${version}`;
}

function settings({ directory, archives, status }: Readonly<Record<'directory' | 'archives' | 'status', string>>): string {
  return [
    `Dir::State "${directory}";`,
    `Dir::State::status "${status}";`,
    `Dir::State::lists "${join(directory, 'lists')}";`,
    `Dir::Cache "${directory}";`,
    `Dir::Cache::archives "${archives}";`,
    'Dir::Cache::pkgcache "pkgcache.bin";',
    'Dir::Cache::srcpkgcache "srcpkgcache.bin";',
    `Dir::Log "${directory}";`,
    'APT::Install-Recommends "false";',
    'APT::Install-Suggests "false";',
    'APT::Architecture "amd64";',
    'APT::Architectures { "amd64"; };',
    // Its own user could not write to the folders of whoever builds.
    'APT::Sandbox::User "root";',
    'Acquire::Languages "none";',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear APT::Update::Pre-Invoke;',
    '#clear DPkg::Post-Invoke;',
    '#clear DPkg::Pre-Invoke;',
    '',
  ].join('\n');
}

function explainUnknown(error: unknown): never {
  const unknown = error instanceof Error && /Unable to locate package (\S+)|Couldn't find any package by \S+ '([^']+)'/.exec(error.message);
  if (!unknown) throw error;
  throw new AgentisoError('NotFound', `no apt source of this machine has the package ${unknown[1] ?? unknown[2]}`, {
    reason: 'PackageNotFound',
    hint: 'images are made of Debian packages: look at /etc/apt/sources.list.d, and whether the network is there',
    cause: error,
  });
}
