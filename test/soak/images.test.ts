/** Builds of images that are killed, doubled and repeated. Whole builds take a minute each: at full size only. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder, runCli, startCli } from '../support/cli.ts';
import { hasTool } from '../support/image-boot.ts';
import { requires } from '../support/requirements.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const canBuild = process.getuid?.() === 0 && ['mmdebstrap', 'mkfs.ext4', 'apt-get'].every(hasTool);
const suite = requires(!isFull || canBuild, 'to build an image needs root, mmdebstrap, mkfs.ext4 and apt');

interface Inspected {
  readonly built?: { readonly hash: string };
  readonly root?: { readonly rootSha256: string };
}

async function inspect(env: NodeJS.ProcessEnv): Promise<Inspected> {
  const { stdout } = await runCli(['image', 'inspect', 'base', '-o', 'json'], { env });
  return JSON.parse(stdout) as Inspected;
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Pids of whoever works below the folder. */
function busyIn(folder: string): string[] {
  const look = (read: () => string) => {
    try {
      return read().includes(folder);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      pid !== String(process.pid) &&
      (look(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ||
        look(() => readlinkSync(`/proc/${pid}/root`)) ||
        look(() => readlinkSync(`/proc/${pid}/cwd`))),
  );
}

suite('builds of images', () => {
  it.runIf(isFull)('leave nothing that is not whole when killed, are made once for two, and are the same every time', async () => {
    await inTemporaryFolder(async (folder) => {
      const directory = join(folder, 'images');
      const env = { AGENTISO_IMAGES: directory };

      const killed = startCli(['image', 'build'], { env });
      await killed.said('installing');
      killed.child.kill('SIGKILL');
      await killed.result;
      await expect.poll(() => busyIn(directory), { timeout: 10_000 }).toEqual([]);
      expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(directory);
      expect((await inspect(env)).built).toBeUndefined();

      const [first, second] = await Promise.all([runCli(['image', 'build'], { env }), runCli(['image', 'build'], { env })]);
      expect([first.code, second.code, first.stdout]).toEqual([0, 0, second.stdout]);
      expect([first, second].filter(({ stderr }) => stderr.includes('waiting for it'))).toHaveLength(1);
      expect([first, second].filter(({ stderr }) => stderr.includes('installing'))).toHaveLength(1);
      expect(readdirSync(join(directory, 'roots'))).toHaveLength(1);
      expect(namesIn(join(directory, 'scratch'))).toEqual([]);

      const before = await inspect(env);
      expect((await runCli(['image', 'build', '--force'], { env })).code).toBe(0);
      const after = await inspect(env);
      expect(after.root?.rootSha256).toBe(before.root?.rootSha256);
      expect(after.built?.hash).toBe(before.built?.hash);

      expect((await runCli(['image', 'prune', '--budget', '0'], { env })).code).toBe(0);
      expect((await inspect(env)).built).toBeUndefined();
      expect(readdirSync(join(directory, 'roots'))).toEqual([]);
    });
  });
});
