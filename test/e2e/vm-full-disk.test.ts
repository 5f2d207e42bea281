/** A machine for which there is no room on the disk of this one, which is a small one in a mount namespace of the daemon's own. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { machineStateOf, NOTHING_LEFT } from '../support/machine-state.ts';
import { machinesHere, testImagesDirectory } from '../support/machines.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const WAIT = { timeout: 60_000, interval: 100 };
const TEST_MS = 120_000;
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: large }
spec: { isolation: { driver: vm }, roles: [{ name: one, resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 } }] }
`;
/** The namespace goes with the daemon, and the disk with the namespace. */
const SERVE = 'mount -t tmpfs -o size=600m tmpfs "$1" && shift && exec "$@"';
const NO_ROOM = /^its disk may take 1024 MiB, and of the \d+ MiB that are free 1024 MiB are to stay so$/;

const place = temporaryFolder();
afterAll(() => place.remove());

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a machine without room for its disk', () => {
  it(
    'waits, says why, and leaves nothing',
    async () => {
      const home = join(place.folder, 'home');
      const disk = join(home, 'state', 'workspaces');
      mkdirSync(disk, { recursive: true });
      const serve = [process.execPath, join(import.meta.dirname, '../../dist/agentiso.js'), 'serve', '--home', home];
      const daemon = spawn('unshare', ['--mount', '--', '/bin/sh', '-c', SERVE, 'sh', disk, ...serve], {
        ...{ stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, AGENTISO_IMAGES: testImagesDirectory() } },
      });
      const ended = new Promise((resolve) => daemon.once('close', resolve));
      let said = '';
      daemon.stdout?.on('data', (chunk: Buffer) => {
        said += chunk;
      });
      const cli = (...args: string[]) => runCli([...args.slice(0, 1), '--home', home, ...args.slice(1)]);
      const agent = async () => JSON.parse((await cli('get', 'agents', '-o', 'json')).stdout).items[0];
      const uids: string[] = [];
      try {
        await vi.waitFor(() => expect(said).toContain('agentiso ready'), WAIT);
        const manifest = join(place.folder, 'team.yaml');
        writeFileSync(manifest, TEAM);
        await cli('apply', '-f', manifest);
        await vi.waitFor(async () => {
          const found = await agent();
          const waiting = { type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: expect.stringMatching(NO_ROOM) };
          expect(found.status?.conditions, JSON.stringify(found.status)).toContainEqual(expect.objectContaining(waiting));
          uids.push(found.metadata.uid);
        }, WAIT);
        expect((await cli('why', 'agent/large-one')).stdout).toContain('its disk may take 1024 MiB');
        // As the daemon sees it.
        expect(readdirSync(`/proc/${daemon.pid}/root${join(disk, 'vm')}`).filter((name) => !name.startsWith('.'))).toEqual([]);
        expect(uids.flatMap(processesMentioning)).toEqual([]);
        await cli('delete', 'team', 'large', '--wait=false');
        await vi.waitFor(async () => expect(await agent()).toBeUndefined(), WAIT);
      } finally {
        daemon.kill('SIGTERM');
        expect(await ended).toBe(0);
      }
      expect(machineStateOf(home, uids)).toEqual(NOTHING_LEFT);
    },
    TEST_MS,
  );
});
