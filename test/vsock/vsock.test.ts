/**
 * vsock for real: a machine of this project's own image runs the vm driver, whose machine inside of it is reached by vsock. No socket of that family
 * is opened on the machine that this runs on. Both machines are emulated, the inner one by an emulated processor: it takes minutes.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { type ImageFiles, openImages } from '#images/images.ts';
import { imagesDirectory } from '../../src/user-images.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import { bundleGuest } from '../support/guest-bundle.ts';
import { bootImage, COUNTED_TSC_KHZ, hasTool } from '../support/image-boot.ts';
import { requires } from '../support/requirements.ts';
import { INSIDE_WORD, type InsidePlan, type Seen } from './plan.ts';

const BUILD_MS = 900_000;
const TEST_MS = 3_600_000;
const root = join(import.meta.dirname, '..', '..');
const { AGENTISO_IMAGES: configured, XDG_CACHE_HOME: cacheHome } = process.env;
const directory = imagesDirectory({ directory: configured, cacheHome, userHome: homedir(), cwd: process.cwd() });
const isPossible = process.getuid?.() === 0 && ['mmdebstrap', 'mkfs.ext4', 'apt-get', 'qemu-system-x86_64'].every(hasTool);

requires(isPossible, 'the nested machine needs root, qemu-system-x86_64, and to build its image mmdebstrap, mkfs.ext4 and apt')(
  'vsock',
  () => {
    it('reaches a machine, its commands and its messages, again and again, and lets nobody else in', { timeout: TEST_MS }, async () => {
      const bundle = await bundleGuest();
      await inTemporaryFolder(async (folder) => {
        const inner = await imageFor('base', bundle.path);
        const outer = await imageFor('vsock-host', writeFirstProgram(folder));
        await makeDiskFor(inner, folder);
        // It takes minutes: whoever waits sees how far it is.
        const onText = (text: string) => void process.stderr.write(text);
        const size = { vcpus: 1, memoryMiB: 1_536, codeMiB: 512, isCounted: true };
        const machine = bootImage(outer, { folder, words: ['aiso.pool', 'tsc=reliable', 'aiso.scratch=128m', INSIDE_WORD], size, onText });
        try {
          const { console: said } = await machine.ended;
          const seen = /SEEN(.*)END/.exec(said)?.[1];
          if (seen === undefined) throw new Error(said);
          expect(JSON.parse(seen)).toEqual({
            cid: { isFirst: true, next: true },
            words: 'inner-machine\n0\ninner-machine\n',
            message: { storedSeq: 1, wasOver: false, said: 'went\n' },
            bytes: 300_000,
            egress: 'proxied\n',
            strangers: ['sent away', 'sent away', 'Permission denied'],
            reconnected: 'again\n',
            adopted: 'adopted\n',
            stopped: 'in good order',
          } satisfies Partial<Seen>);
        } finally {
          await machine.stop();
          await bundle.remove();
        }
      });
    });
  },
);

it('is refused where it is not in the outer machine', async () => {
  await inTemporaryFolder(async (folder) => {
    const { stdout } = spawnSync(process.execPath, [await bundleInside(folder)], { encoding: 'utf8' });
    expect(JSON.parse(/SEEN(.*)END/.exec(stdout)?.[1] ?? '{}')).toEqual({
      failure: expect.stringContaining('this runs only in the outer machine'),
    });
  });
});

async function imageFor(name: string, guestAgent: string): Promise<ImageFiles> {
  const definitions = [join(import.meta.dirname, 'image')];
  const images = openImages({ directory, guestFiles: await findGuestFiles(guestAgent), definitions });
  return (await images.find(name)) ?? (await images.build(name, { signal: AbortSignal.timeout(BUILD_MS) }));
}

/** What the outer machine starts in place of a guest agent. */
function writeFirstProgram(folder: string): string {
  const path = join(folder, 'first-program.cjs');
  writeFileSync(path, "import('/workspace/inside.mjs');\n");
  return path;
}

async function bundleInside(folder: string): Promise<string> {
  const outfile = join(folder, 'inside.mjs');
  const require = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
  const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node20.19' } as const;
  await build({
    ...common,
    external: ['koffi'],
    entryPoints: ['test/vsock/inside.ts'],
    format: 'esm',
    outfile,
    banner: { js: require },
    logLevel: 'error',
  });
  return outfile;
}

/** Everything that the inner machine is started from, and what starts it. */
async function makeDiskFor(inner: ImageFiles, folder: string): Promise<void> {
  const content = join(folder, 'content', 'workspace');
  mkdirSync(join(content, 'image'), { recursive: true });
  await bundleInside(content);
  for (const name of ['koffi', '@koromix'])
    cpSync(join(root, 'node_modules', name), join(content, 'node_modules', name), { recursive: true });
  const place = (name: 'kernel' | 'initrd' | 'root') => {
    run('cp', ['--sparse=always', '--reflink=auto', inner[name], join(content, 'image', name)]);
    return `/workspace/image/${name}`;
  };
  const image = { name: inner.name, hash: inner.hash, kernel: place('kernel'), initrd: place('initrd'), root: place('root') };
  writeFileSync(join(content, 'plan.json'), JSON.stringify({ tscKhz: COUNTED_TSC_KHZ, image } satisfies InsidePlan));
  const disk = join(folder, 'workspace.img');
  writeFileSync(disk, '');
  truncateSync(disk, 6 * 2 ** 30);
  run('mkfs.ext4', ['-q', '-F', '-O', '^has_journal', '-d', join(folder, 'content'), disk]);
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}
