/** A real image: built once and kept for the other suites, started in a real virtual machine without acceleration. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { findGuestFiles } from '#drivers/sandbox/guest-files.ts';
import { type ImageFiles, openImages } from '#images/images.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { definitionFolders, imagesDirectory } from '../../src/user-images.ts';
import { inTemporaryFolder, runCli, startCli } from '../support/cli.ts';
import { bootImage, debugfs, hasTool, makeDisk } from '../support/image-boot.ts';
import { requires } from '../support/requirements.ts';

const BUILD_MS = 600_000;
const BOOT_MS = 120_000;

const environment = {
  directory: process.env['AGENTISO_IMAGES'],
  cacheHome: process.env['XDG_CACHE_HOME'],
  userHome: homedir(),
  cwd: process.cwd(),
};
const directory = imagesDirectory(environment);
const isRoot = process.getuid?.() === 0;
const canBuild = isRoot && hasTool('mmdebstrap') && hasTool('mkfs.ext4') && hasTool('apt-get');
const canBoot = canBuild && hasTool('qemu-system-x86_64');

/** Says what it finds as the guest agent would find it, and ends. */
const LOOK_AROUND = `
const { execFileSync, spawn } = require('node:child_process');
const { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } = require('node:fs');
const states = () => readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).map((pid) => {
  try { return readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\\) /, '').slice(0, 1); } catch { return ''; }
});
// It loses its parent at once and ends a moment later: nobody but process 1 can take note.
spawn('sh', ['-c', 'sleep 0.3 & echo $! > /tmp/orphan'], { stdio: 'ignore' }).on('exit', async () => {
  const orphan = '/proc/' + readFileSync('/tmp/orphan', 'utf8').trim();
  const parent = existsSync(orphan) && readFileSync(orphan + '/status', 'utf8').match(/PPid:\\s*(\\d+)/)[1];
  while (existsSync(orphan)) await new Promise((done) => setTimeout(done, 50));
  writeFileSync('/workspace/made', 'by the guest');
  writeFileSync('/var/tmp/written', 'in memory');
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\\n').map((line) => line.split(' ').slice(1, 3).join(' '));
  const found = {
    args: process.argv.slice(2), cwd: process.cwd(), uid: process.getuid(), home: process.env.HOME, node: process.version,
    hostname: readFileSync('/proc/sys/kernel/hostname', 'utf8').trim(), parent, zombies: states().filter((state) => state === 'Z').length,
    ports: readdirSync('/dev/virtio-ports').map((name) => name + ' ' + /vport\\dp\\d/.test(readlinkSync('/dev/virtio-ports/' + name))),
    mounts: mounts.filter((each) => /^\\/(workspace|tmp|run|dev\\/shm|dev\\/pts|var\\/lib\\/agentiso)? /.test(each)).sort(),
    network: execFileSync('ip', ['-4', 'route'], { encoding: 'utf8' }).trim().split(/\\s*\\n/), resolver: readFileSync('/etc/resolv.conf', 'utf8'),
    git: execFileSync('git', ['--version'], { encoding: 'utf8' }).split(' ')[0], team: existsSync('/run/agentiso/bin/team'),
  };
  console.log('FOUND' + JSON.stringify(found) + 'END');
  process.exit(7);
});
`;

requires(canBoot, 'to build an image needs root, mmdebstrap, mkfs.ext4 and apt; to start it qemu-system-x86_64')('an image', () => {
  let image: ImageFiles;

  beforeAll(async () => {
    const guestFiles = await findGuestFiles(guestAgentPath());
    const images = openImages({ directory, guestFiles, definitions: definitionFolders(environment) });
    image = (await images.find('base')) ?? (await images.build('base', { signal: AbortSignal.timeout(BUILD_MS) }));
  }, BUILD_MS);

  it.concurrent('starts in a virtual machine, up to the guest agent', { timeout: BOOT_MS }, async () => {
    await inTemporaryFolder(async (folder) => {
      makeDisk(join(folder, 'workspace.img'));
      const machine = bootImage(image, { folder, words: ['aiso.id=first', 'aiso.incarnation=one'] });
      try {
        const console = await machine.said('listening');
        expect(console).toContain('agentiso: starting the guest agent');
      } finally {
        await machine.stop();
      }
    });
  });

  it.concurrent('gives the guest what was agreed on, and turns the machine off when it has ended', { timeout: BOOT_MS }, async () => {
    await inTemporaryFolder(async (folder) => {
      const disk = join(folder, 'workspace.img');
      makeDisk(disk);
      const guestAgent = join(folder, 'look-around.cjs');
      writeFileSync(guestAgent, LOOK_AROUND);
      const looking = await openImages({ directory, guestFiles: { guestAgent } }).find('base');
      if (looking === undefined) throw new Error('the image is gone');
      const words = ['aiso.id=abc', 'aiso.incarnation=i-1', 'aiso.hostname=box', 'aiso.user=agent', 'aiso.arg=--more', 'aiso.arg=*'];
      const network = ['aiso.address=10.99.0.2/32', 'aiso.gateway=10.99.0.1', 'aiso.nameserver=10.99.0.1'];
      const machine = bootImage(looking, { folder, words: [...words, ...network] });
      try {
        const { code, console } = await machine.ended;
        const found = /FOUND(.*)END/.exec(console)?.[1];
        expect(found, console).toBeDefined();
        expect(JSON.parse(found ?? '')).toEqual({
          args: [
            ...['--id', 'abc', '--incarnation', 'i-1', '--more', '*'],
            ...['--run', '/run/agentiso', '--state', '/var/lib/agentiso', '--workspace', '/workspace', '--home', '/home/agent'],
          ],
          cwd: '/workspace',
          uid: 1000,
          home: '/home/agent',
          node: process.version,
          hostname: 'box',
          parent: '1',
          zombies: 0,
          ports: ['agentiso.control true', 'agentiso.relay true'],
          mounts: [
            '/ overlay',
            '/dev/pts devpts',
            '/dev/shm tmpfs',
            '/run tmpfs',
            '/tmp tmpfs',
            '/var/lib/agentiso ext4',
            '/workspace ext4',
          ],
          network: ['default via 10.99.0.1 dev eth0', '10.99.0.1 dev eth0 scope link'],
          resolver: 'nameserver 10.99.0.1\n',
          git: 'git',
          team: false,
        });
        expect(console).toContain('agentiso: the guest agent ended with 7');
        expect(code).toBe(0);
        expect(debugfs(disk, 'cat /workspace/made')).toBe('by the guest');
        expect(debugfs(disk, 'stats -h')).toMatch(/Filesystem state: +clean\n/);
        expect(debugfs(image.root, 'ls -p /var/tmp')).not.toContain('written');
      } finally {
        await machine.stop();
        rmSync(looking.initrd);
      }
    });
  });

  it('is what the commands say it is', async () => {
    const { code, stdout } = await runCli(['image', 'inspect', 'base', '--verify', '-o', 'json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ name: 'base', isIntact: true })]);
    expect(JSON.parse(stdout).files.root).toBe(image.root);
  });
});

requires(canBuild, 'to build an image needs root, mmdebstrap, mkfs.ext4 and apt')('a build that is interrupted', () => {
  it('ends with 130 and leaves no image', async () => {
    await inTemporaryFolder(async (folder) => {
      const env = { AGENTISO_IMAGES: join(folder, 'images') };
      const build = startCli(['image', 'build'], { env });
      await build.said('looking for the newest packages');
      build.child.kill('SIGINT');
      expect(await build.result).toMatchObject({ code: 130, stdout: '' });
      const { stdout } = await runCli(['image', 'list', '-o', 'json'], { env });
      expect((JSON.parse(stdout) as { built?: unknown }[]).filter(({ built }) => built !== undefined)).toEqual([]);
    });
  });

  it('is not begun where the definition is wrong', async () => {
    await inTemporaryFolder(async (folder) => {
      mkdirSync(join(folder, 'agentiso', 'images'), { recursive: true });
      writeFileSync(join(folder, 'agentiso', 'images', 'go.yaml'), 'name: go\npackages: [golang-go]\nrun: make\n');
      const env = { AGENTISO_IMAGES: join(folder, 'images'), XDG_CONFIG_HOME: folder };
      const { code, stderr } = await runCli(['image', 'build', 'go'], { env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('go.yaml: unknown field run; there are name, description, packages')]);
    });
  });
});
