/** Machines and the disk of this one, which is a small one in a mount namespace of the daemon's own: no room to begin with, or none any more. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { machineStateOf, NOTHING_LEFT } from '../support/machine-state.ts';
import { machinesHere, testImagesDirectory } from '../support/machines.ts';
import { isProcessOf, processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { SmallDisk } from '../support/small-disk.ts';

const here = await machinesHere();
const WAIT = { timeout: 300_000, interval: 100 };
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
  command: echo "$AGENTISO_ATTEMPT" >> starts; head -c 12M /dev/urandom | tee big | sha256sum > said; sync; sha256sum < big | cmp - said && rm big said && cat starts
`;
const NO_ROOM = /^its disk may take 1024 MiB, and of the \d+ MiB that are free 1024 MiB are to stay so$/;
const FULL = 'the disk of this machine is full';
/** What helps: room, or to give it up. */
const WAITS = /the disk of this machine is full.*goes on when there is room.*agentiso\.dev\/discard-work/s;
/** Of silence an agent is thought to be dead after 30 s. */
const SILENT_MS = 40_000;

const place = temporaryFolder();
afterAll(() => place.remove());

class SmallMachines extends SmallDisk {
  readonly uids = new Set<string>();

  constructor(name: string, size: string) {
    // What is started ahead would take room at moments of its own.
    const env = { AGENTISO_IMAGES: testImagesDirectory(), AGENTISO_WARM_POOL: '0' };
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

  /** Writes more than there is room for, and stands still in the middle of it. */
  async standStill(): Promise<string> {
    await this.leave(6, WAIT);
    await this.apply(TASK);
    const { metadata } = await this.ready({ status: 'False', reason: 'HeldUp', message: expect.stringContaining(FULL) });
    return metadata.name;
  }

  async gone(): Promise<void> {
    await vi.waitFor(async () => expect(await this.agent()).toBeUndefined(), WAIT);
  }

  async deleteTeam(): Promise<void> {
    await this.cli('delete', 'team', 'large', '--wait=false');
    await this.gone();
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
        expect(processesMentioning(...small.uids)).toEqual([]);
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
        await small.standStill();
        const sinceMs = performance.now();
        expect((await small.cli('why', 'task/large-write')).stdout).toContain(FULL);
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

  it(
    'that stands still is not ended by its deletion, which says what it waits for and goes on when there is room: nothing of its work is lost',
    async () => {
      const small = new SmallMachines('deleted', '3g');
      try {
        await small.apply(TEAM);
        const { status } = await small.ready({ status: 'True' });
        await small.standStill();
        await small.cli('delete', 'team', 'large', '--wait=false');
        await vi.waitFor(async () => expect((await small.cli('why', 'agent/large-one')).stdout).toMatch(WAITS), WAIT);
        // Also after some more attempts.
        const { metadata } = await small.agent();
        await vi.waitFor(async () => expect((await small.cli('events', '-o', 'json')).stdout).toMatch(/RescueFailed/), WAIT);
        expect([metadata.deletionTimestamp, isProcessOf(status.pid, metadata.uid)]).toEqual([expect.any(String), true]);
        await small.leave(1_500, WAIT);
        await small.gone();
        const { stdout } = await small.cli('rescue', 'list', '-o', 'json');
        expect(stdout).toContain('large-one');
      } finally {
        await small.end();
      }
      expect(machineStateOf(small.home, [...small.uids])).toEqual(NOTHING_LEFT);
    },
    TEST_MS,
  );

  it(
    'that stands still goes at once when its work is given up',
    async () => {
      const small = new SmallMachines('given-up', '3g');
      try {
        await small.apply(TEAM);
        await small.ready({ status: 'True' });
        const name = await small.standStill();
        await small.cli('annotate', 'agent', name, 'agentiso.dev/discard-work=true');
        await small.deleteTeam();
      } finally {
        await small.end();
      }
      expect(machineStateOf(small.home, [...small.uids])).toEqual(NOTHING_LEFT);
    },
    TEST_MS,
  );
});
