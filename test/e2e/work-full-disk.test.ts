/** An agent whose work does not fit on the disk is not deleted until it does. The disk is a small one, in a mount namespace of the daemon's own. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';

const WAIT = { timeout: 30_000, interval: 100 };
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: large }
spec: { isolation: { driver: process }, roles: [{ name: one }] }
`;
/** The namespace goes with the daemon, and the disk with the namespace. */
const SERVE = 'mount -t tmpfs -o size=2m tmpfs "$1" && shift && exec "$@"';

const place = temporaryFolder();
afterAll(() => place.remove());

requires(process.getuid?.() === 0, 'a small disk needs the right to mount one')('work that does not fit on the disk', () => {
  it('keeps its agent until it fits, and says why', async () => {
    const home = join(place.folder, 'home');
    const disk = join(home, 'repos');
    mkdirSync(disk, { recursive: true });
    const program = join(import.meta.dirname, '../../dist/agentiso.js');
    const serve = [process.execPath, program, 'serve', '--home', home];
    const daemon = spawn('unshare', ['--mount', '--', '/bin/sh', '-c', SERVE, 'sh', disk, ...serve], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => daemon.once('close', resolve));
    let said = '';
    daemon.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const cli = (...args: string[]) => runCli([...args.slice(0, 1), '--home', home, ...args.slice(1)]);
    const agent = async () => JSON.parse((await cli('get', 'agents', '-o', 'json')).stdout).items[0];
    try {
      await vi.waitFor(() => expect(said).toContain('agentiso ready'), WAIT);
      await applied(TEAM, home);
      await vi.waitFor(async () => expect((await agent())?.status?.phase).toBe('Ready'), WAIT);
      const { stdout } = await cli('exec', 'large-one', '--', 'sh', '-c', 'head -c 5000000 /dev/urandom > large.bin; sha1sum < large.bin');
      const { metadata } = await agent();
      await cli('delete', 'team', 'large', '--wait=false');
      const isStuck = { type: 'Rescued', status: 'False', reason: 'RescueFailed', message: expect.stringContaining('ENOSPC') };
      await vi.waitFor(async () => expect((await agent()).status.conditions).toContainEqual(expect.objectContaining(isStuck)), WAIT);
      await finished(spawn('nsenter', [`--target=${daemon.pid}`, '--mount', 'mount', '-o', 'remount,size=64m', disk]));
      await vi.waitFor(async () => expect(await agent()).toBeUndefined(), WAIT);
      const into = join(place.folder, 'back');
      expect(await cli('rescue', 'restore', metadata.uid, '--into', into)).toMatchObject({ code: 0, stderr: '' });
      const digest = createHash('sha1')
        .update(readFileSync(join(into, 'large.bin')))
        .digest('hex');
      expect(stdout).toContain(digest);
    } finally {
      daemon.kill('SIGTERM');
      await ended;
    }
  });
});

async function applied(text: string, home: string): Promise<void> {
  const run = spawn(process.execPath, [join(import.meta.dirname, '../../dist/agentiso.js'), 'apply', '--home', home, '-f', '-'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  run.stdin.end(text);
  await finished(run);
}

async function finished(child: ReturnType<typeof spawn>): Promise<void> {
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
}
