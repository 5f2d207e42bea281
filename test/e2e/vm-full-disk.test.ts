/** Machines and the disk of this one, which is a small one in a mount namespace of the daemon's own: no room to begin with, or none any more. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { machineStateOf, NOTHING_LEFT } from '../support/machine-state.ts';
import { machinesHere, testImagesDirectory } from '../support/machines.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const WAIT = { timeout: 120_000, interval: 100 };
const TEST_MS = 600_000;
const MIB = 1024 ** 2;
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
/** The namespace goes with the daemon, and the disk with the namespace. */
const SERVE = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"';
const NO_ROOM = /^its disk may take 1024 MiB, and of the \d+ MiB that are free 1024 MiB are to stay so$/;
/** Of silence an agent is thought to be dead after 30 s. */
const SILENT_MS = 40_000;

const place = temporaryFolder();
afterAll(() => place.remove());

class SmallDisk {
  readonly home: string;
  readonly uids = new Set<string>();
  readonly #disk: string;
  readonly #daemon;
  readonly #ended: Promise<unknown>;
  #said = '';

  constructor(name: string, size: string) {
    this.home = join(place.folder, name);
    this.#disk = join(this.home, 'state', 'workspaces');
    mkdirSync(this.#disk, { recursive: true });
    const serve = [
      process.execPath,
      join(import.meta.dirname, '../../dist/agentiso.js'),
      'serve',
      '--home',
      this.home,
      '--log-level',
      'info',
    ];
    this.#daemon = spawn('unshare', ['--mount', '--', '/bin/sh', '-c', SERVE, 'sh', size, this.#disk, ...serve], {
      ...{ stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, AGENTISO_IMAGES: testImagesDirectory() } },
    });
    this.#ended = new Promise((resolve) => this.#daemon.once('close', resolve));
    for (const stream of [this.#daemon.stdout, this.#daemon.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#said += chunk;
      });
  }

  /** As the daemon sees it. */
  get machines(): string {
    return `/proc/${this.#daemon.pid}/root${join(this.#disk, 'vm')}`;
  }

  cli(...args: string[]) {
    return runCli([...args.slice(0, 1), '--home', this.home, ...args.slice(1)]);
  }

  async apply(manifest: string): Promise<void> {
    await vi.waitFor(() => expect(this.#said).toContain('agentiso ready'), WAIT);
    const path = join(place.folder, 'manifest.yaml');
    writeFileSync(path, manifest);
    expect(await this.cli('apply', '-f', path)).toMatchObject({ code: 0 });
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

  /** What may still be written; what is written already stays, and may become more while this is said. */
  async leave(mib: number): Promise<void> {
    const nsenter = ['-t', String(this.#daemon.pid), '-m', 'mount', '-o'];
    await vi.waitFor(() => {
      const { blocks, bfree, bsize } = statfsSync(this.machines);
      const size = (blocks - bfree) * bsize + mib * MIB;
      execFileSync('nsenter', [...nsenter, `remount,size=${size}`, this.#disk], { stdio: 'pipe' });
    }, WAIT);
  }

  /** Made or given up: while it is made it takes room, which it may give back. */
  async templateSettled(): Promise<void> {
    await vi.waitFor(() => expect(this.#said).toMatch(/template of machines made|no template could be made/), WAIT);
  }

  async deleteTeam(): Promise<void> {
    await this.cli('delete', 'team', 'large', '--wait=false');
    await vi.waitFor(async () => expect(await this.agent()).toBeUndefined(), WAIT);
  }

  async end(): Promise<void> {
    this.#daemon.kill('SIGTERM');
    expect(await this.#ended).toBe(0);
  }
}

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a machine', () => {
  it(
    'without room for its disk waits, says why, and leaves nothing',
    async () => {
      const small = new SmallDisk('never', '600m');
      try {
        await small.apply(TEAM);
        await small.ready({ status: 'False', reason: 'QuotaExceeded', message: expect.stringMatching(NO_ROOM) });
        expect((await small.cli('why', 'agent/large-one')).stdout).toContain('its disk may take 1024 MiB');
        expect(readdirSync(small.machines).filter((name) => !name.startsWith('.'))).toEqual([]);
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
      const small = new SmallDisk('later', '3g');
      try {
        await small.apply(TEAM);
        const before = await small.ready({ status: 'True' });
        await small.leave(1);
        await small.templateSettled();
        await small.leave(6);
        await small.apply(TASK);
        await small.ready({ status: 'False', reason: 'HeldUp', message: expect.stringContaining('the disk of this machine is full') });
        const sinceMs = performance.now();
        expect((await small.cli('why', 'task/large-write')).stdout).toContain('the disk of this machine is full');
        await vi.waitFor(() => expect(performance.now() - sinceMs).toBeGreaterThan(SILENT_MS), WAIT);
        await small.ready({ status: 'False', reason: 'HeldUp' });
        await small.leave(1_500);
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
