/** A home whose disk is full: what cannot be kept is refused, `why` says it, and all goes on by itself when there is room again. */
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';
import { SmallDisk } from '../support/small-disk.ts';

const WAIT = { timeout: 60_000, interval: 200 };
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: full }
spec:
  isolation: { driver: process }
  roles: [{ name: one }]
  tasks: [{ name: long, command: "until [ -e go ]; do sleep 0.2; done; echo went" }]
`;

const place = temporaryFolder();
afterAll(() => place.remove());

requires(process.getuid?.() === 0, 'a small disk needs the right to mount one')('a home on a full disk', () => {
  it('is what why names, and everything goes on when there is room', async () => {
    const small = new SmallDisk(join(place.folder, 'home'), { size: '24m' });
    const filler = join(small.home, 'filler');
    const said = async (command: string, ...args: string[]) => {
      const { stdout, stderr } = await small.cli(command, ...args);
      return stdout + stderr;
    };
    const phase = () => said('get', 'task', 'full-long', '-o', 'jsonpath={.status.phase}');
    try {
      await small.apply(TEAM);
      await vi.waitFor(async () => expect(await phase()).toBe('Running'), WAIT);
      expect(await said('why')).toContain('nothing is stuck');
      await small.run(['dd', 'if=/dev/zero', `of=${filler}`, 'bs=4k']);
      for (const about of [[], ['task/full-long'], ['team/full']]) {
        const text = await said('why', ...about);
        expect(text).toContain('daemon is not ready: the disk of the home is full: ');
        expect(text).toContain('what helps: make room there');
      }
      expect(await said('get', '--raw', '/readyz')).toContain('[-]home failed: the disk of the home is full');
      expect(await said('get', '--raw', '/livez')).toBe('ok');
      await small.run(['rm', filler]);
      // Whoever failed meanwhile tries again by itself.
      await vi.waitFor(async () => expect(await said('why')).toContain('nothing is stuck'), WAIT);
      expect(await said('message', 'full/one', 'there is room')).toContain('Accepted');
      await small.cli('exec', 'full-one', '--', 'touch', 'go');
      await vi.waitFor(async () => expect(await phase()).toBe('Succeeded'), WAIT);
    } finally {
      await small.end();
    }
  }, 240_000);
});
