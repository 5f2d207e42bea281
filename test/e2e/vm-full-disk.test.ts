/** Machines and the disk of this one, which is a small one in a mount namespace of the daemon's own: no room to begin with, or none any more. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { machineStateOf, NOTHING_LEFT } from '../support/machine-state.ts';
import { machinesHere, testImagesDirectory } from '../support/machines.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { SmallDisk } from '../support/small-disk.ts';

const here = await machinesHere();
const WAIT = { timeout: 120_000, interval: 100 };
const TEST_MS = 600_000;
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: large }
spec: { isolation: { driver: vm }, roles: [{ name: one, resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 } }] }
`;
/** More than there is room for; of random bytes, because a disk takes no room for others. */
const TASK = `apiVersion: agentiso.dev/v1alpha1
kind: Task
metadata: { name: large-write }
spec:
  team: large
  command: echo "$AGENTISO_ATTEMPT" >> starts; head -c 24M /dev/urandom | tee big | sha256sum > said; sync; sha256sum < big | cmp - said && rm big said && cat starts
`;
const NO_ROOM = /^its disk may take 1024 MiB, and of the \d+ MiB that are free 1024 MiB are to stay so$/;
/** Of silence an agent is thought to be dead after 30 s. */
const SILENT_MS = 40_000;

const place = temporaryFolder();
afterAll(() => place.remove());

class SmallMachines extends SmallDisk {
  readonly uids = new Set<string>();

  constructor(name: string, size: string) {
    const env = { AGENTISO_IMAGES: testImagesDirectory() };
    super(join(place.folder, name), { size, folder: 'state/workspaces', logLevel: 'info', env });
  }

  async agent() {
    const [agent] = JSON.parse((await this.cli('get', 'agents', '-o', 'json')).stdout).items;
    if (agent) this.uids.add(agent.metadata.uid);
    return agent;
  }

  async ready(condition: object) {
    return vi.waitFor(async () => {
      const found = await this.agent();
      expect(found?.status?.conditions, JSON.stringify(found?.status)).toContainEqual(
        expect.objectContaining({ type: 'Ready', ...condition }),
      );
      return found;
    }, WAIT);
  }

  /** Made or given up: while it is made it takes room, which it may give back. */
  async templateSettled(): Promise<void> {
    await this.said(/template of machines made|no template could be made/, WAIT);
  }

  async deleteTeam(): Promise<void> {
    await this.cli('delete', 'team', 'large', '--wait=false');
    await vi.waitFor(async () => expect(await this.agent()).toBeUndefined(), WAIT);
  }
}

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a machine', () => {
  it(
    'without room for its disk waits, says why, and leaves nothing',
    async () => {
      const small = new SmallMachines('never', '600m');
      try {
        await small.apply(TEAM);
        await small.ready({ status: 'False', reason: 'QuotaExceeded', message: expect.stringMatching(NO_ROOM) });
        expect((await small.cli('why', 'agent/large-one')).stdout).toContain('its disk may take 1024 MiB');
        expect(readdirSync(small.seen('vm')).filter((name) => !name.startsWith('.'))).toEqual([]);
        expect([...small.uids].flatMap(processesMentioning)).toEqual([]);
        await small.deleteTeam();
      } finally {
        await small.end();
      }
      expect(machineStateOf(small.home, [...small.uids])).toEqual(NOTHING_LEFT);
    },
    TEST_MS,
  );

  it(
    'whose disk cannot grow stands still and says so, and goes on when there is room, with the task that it was at',
    async () => {
      const small = new SmallMachines('later', '3g');
      try {
        await small.apply(TEAM);
        const before = await small.ready({ status: 'True' });
        await small.leave(1, WAIT);
        await small.templateSettled();
        await small.leave(6, WAIT);
        await small.apply(TASK);
        await small.ready({ status: 'False', reason: 'HeldUp', message: expect.stringContaining('the disk of this machine is full') });
        const sinceMs = performance.now();
        expect((await small.cli('why', 'task/large-write')).stdout).toContain('the disk of this machine is full');
        await vi.waitFor(() => expect(performance.now() - sinceMs).toBeGreaterThan(SILENT_MS), WAIT);
        await small.ready({ status: 'False', reason: 'HeldUp' });
        await small.leave(1_500, WAIT);
        await vi.waitFor(async () => {
          const task = JSON.parse((await small.cli('get', 'task', 'large-write', '-o', 'json')).stdout);
          expect(task.status, JSON.stringify(task.status)).toMatchObject({ phase: 'Succeeded', attempt: 1, result: { stdout: '1\n' } });
        }, WAIT);
        const after = await small.ready({ status: 'True' });
        expect(after.status).toMatchObject({ incarnation: before.status.incarnation, pid: before.status.pid });
      } finally {
        await small.end();
      }
      expect(machineStateOf(small.home, [...small.uids])).toEqual(NOTHING_LEFT);
    },
    TEST_MS,
  );
});
