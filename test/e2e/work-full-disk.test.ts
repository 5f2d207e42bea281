/** An agent whose work does not fit on the disk is not deleted until it does. The disk is a small one, in a mount namespace of the daemon's own. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';
import { SmallDisk } from '../support/small-disk.ts';

const WAIT = { timeout: 30_000, interval: 100 };
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: large }
spec: { isolation: { driver: process }, roles: [{ name: one }] }
`;

const place = temporaryFolder();
afterAll(() => place.remove());

requires(process.getuid?.() === 0, 'a small disk needs the right to mount one')('work that does not fit on the disk', () => {
  it('keeps its agent until it fits, and says why', async () => {
    const small = new SmallDisk(join(place.folder, 'home'), { size: '2m', folder: 'repos' });
    const agent = async () => JSON.parse((await small.cli('get', 'agents', '-o', 'json')).stdout).items[0];
    try {
      await small.apply(TEAM);
      await vi.waitFor(async () => expect((await agent())?.status?.phase).toBe('Ready'), WAIT);
      const write = 'head -c 5000000 /dev/urandom > large.bin; sha1sum < large.bin';
      const { stdout } = await small.cli('exec', 'large-one', '--', 'sh', '-c', write);
      const { metadata } = await agent();
      await small.cli('delete', 'team', 'large', '--wait=false');
      const isStuck = { type: 'Rescued', status: 'False', reason: 'RescueFailed', message: expect.stringContaining('ENOSPC') };
      await vi.waitFor(async () => expect((await agent()).status.conditions).toContainEqual(expect.objectContaining(isStuck)), WAIT);
      expect((await small.cli('why', 'agent/large-one')).stdout).toMatch(/is being deleted: RescueFailed: .*ENOSPC/);
      small.resize('64m');
      await vi.waitFor(async () => expect(await agent()).toBeUndefined(), WAIT);
      const into = join(place.folder, 'back');
      expect(await small.cli('rescue', 'restore', metadata.uid, '--into', into)).toMatchObject({ code: 0, stderr: '' });
      const digest = createHash('sha1')
        .update(readFileSync(join(into, 'large.bin')))
        .digest('hex');
      expect(stdout).toContain(digest);
    } finally {
      await small.end();
    }
  });
});
