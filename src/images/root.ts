/** The read-only root of an image: a Debian system of exactly the resolved packages, made in a scratch folder and written as a file system. */
import { link, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { customise } from './customise.ts';
import { makeFileSystem } from './file-system.ts';
import { archiveName, flatIndex, type IndexedPackage } from './packages.ts';
import { EPOCH_SECONDS, KEPT_ANYWAY, LEFT_OUT } from './recipe.ts';
import { run } from './run.ts';

export interface RootPlan {
  /** Empty, ours alone, and removed by the caller whatever happens. */
  readonly scratch: string;
  /** Where the downloaded packages are. */
  readonly archives: string;
  readonly packages: readonly IndexedPackage[];
  readonly nodePath: string;
  readonly target: string;
  readonly signal: AbortSignal;
  /** How much of the installation is done. */
  readonly onPercent: (percent: number) => void;
}

export async function makeRoot(plan: RootPlan): Promise<void> {
  const { scratch, archives, packages, nodePath, target, signal } = plan;
  const [repository, root] = [join(scratch, 'repository'), join(scratch, 'root')];
  await mkdir(repository);
  for (const each of packages) await link(join(archives, archiveName(each)), join(repository, archiveName(each)));
  await writeFile(join(repository, 'Packages'), flatIndex(packages));
  const env = { SOURCE_DATE_EPOCH: String(EPOCH_SECONDS), TMPDIR: scratch, DEBIAN_FRONTEND: 'noninteractive' };
  await run(bootstrapCommand({ repository, root, packages }), { signal, env, onLine: countLines(packages.length, plan.onPercent) });
  await customise(root, nodePath);
  await makeFileSystem(root, target, signal);
}

/** In namespaces of its own, so that neither its mounts nor its processes are left when it is ended. Pure. */
export function bootstrapCommand(plan: {
  readonly repository: string;
  readonly root: string;
  readonly packages: readonly { readonly name: string }[];
}): [string, ...string[]] {
  const apart = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'];
  const dpkg = ['force-unsafe-io', ...LEFT_OUT.map((path) => `path-exclude=${path}`), ...KEPT_ANYWAY.map((path) => `path-include=${path}`)];
  const options = ['APT::Install-Recommends "false"', 'APT::Sandbox::User "root"', 'Acquire::Languages "none"'];
  return [
    'unshare',
    ...apart,
    '--',
    'mmdebstrap',
    ...['--verbose', '--mode=root', '--variant=essential', '--format=directory', '--architectures=amd64'],
    ...options.map((option) => `--aptopt=${option}`),
    ...dpkg.map((option) => `--dpkgopt=${option}`),
    `--include=${plan.packages.map(({ name }) => name).join(',')}`,
    // No suite: the repository has one only.
    '',
    plan.root,
    `deb [trusted=yes] copy:${plan.repository} ./`,
  ];
}

/** Every package is unpacked once and set up once. */
function countLines(packages: number, onPercent: (percent: number) => void): (line: string) => void {
  let lines = 0;
  return (line) => {
    if (!/^(?:Unpacking|Setting up) /.test(line)) return;
    lines += 1;
    onPercent(Math.min(100, (lines / (2 * packages)) * 100));
  };
}
