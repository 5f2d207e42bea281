/**
 * The vm driver with real machines and the real guest agent. A machine is dear where processors are emulated, so one boots, is made a template
 * of, and everything else is told of copies, a few things of each.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { type VmDriver, vmDriver } from '#drivers/vm/driver.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest, type GuestBundle } from '../support/guest-bundle.ts';
import { findTestImage, machinesHere, qemuOf } from '../support/machines.ts';
import { isPidAlive } from '../support/pid.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const { signal } = new AbortController();
const WAIT = { timeout: 180_000, interval: 50 };
const TEST_MS = 300_000;
const SPEC: WorkspaceSpec = {
  id: 'machine',
  incarnation: 'first',
  hostname: 'host-machine',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};

let bundle: GuestBundle;
let stateDir: string;
let driver: VmDriver;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('the vm driver', () => {
  beforeAll(async () => {
    bundle = await bundleGuest();
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vm-'));
    driver = openDriver();
  }, TEST_MS);

  afterEach(async () => {
    for (const { id } of await driver.list(signal)) await deleteFully(id);
    expect(processesMentioning(stateDir)).toEqual([]);
  }, TEST_MS);

  afterAll(async () => {
    await bundle?.remove();
    if (stateDir !== undefined) await rm(stateDir, { recursive: true, force: true });
  });

  it(
    'boots a machine that runs commands, keeps files and ends in good order',
    async () => {
      const base = await mkdtemp(join(tmpdir(), 'agentiso-vm-base-'));
      const state = await driver.create({ ...SPEC, base }, signal);
      await running(SPEC.id);
      const client = await connect(SPEC);
      expect(driver.isolation).toMatchObject({ driver: 'vm', accel: here.support?.accel });
      expect(await execute(client, 'hostname; uname -s; pwd; echo kept > file; touch "$HOME/mine"')).toBe(
        'host-machine\nLinux\n/workspace\n',
      );
      // Messages have a way of their own, whatever runs.
      const sleeping = client.call('exec', { command: 'sleep 5; echo slept', timeoutMs: 60_000 });
      const relay = await driver.connect(SPEC.id, 'relay', signal);
      relay.destroy();
      expect((await sleeping).stdout).toBe('slept\n');
      const { result, up, down } = client.open('execStream', {
        ...{ argv: ['/bin/sh', '-c', 'read line; echo "got $line"; tty'], execId: 'one', hasStdin: true },
        tty: { rows: 24, columns: 80 },
      });
      up.stdin.end('words\n');
      const said = text(down.stdout);
      expect(await result).toMatchObject({ exitCode: 0 });
      expect(await said).toMatch(/got words\r\n\/dev\/pts\/\d+/);
      expect((await driver.usage(SPEC.id, signal))?.memoryBytes).toBeGreaterThan(50_000_000);
      // Whoever QEMU is, it is not root.
      const status = await readFile(`/proc/${qemuOf(state.pid ?? 0)}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t70001\t70001\t70001\t70001$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      expect(await driver.get(SPEC.id, signal)).toEqual({ id: SPEC.id, incarnation: 'first', phase: 'exited' });
      expect(isPidAlive(state.pid ?? 0)).toBe(false);
      await driver.templatesSettled();
      await rm(base, { recursive: true });
    },
    TEST_MS,
  );

  it(
    'makes copies that share nothing but their past',
    async () => {
      const ids = ['one', 'two', 'three'];
      for (const id of ids) await driver.create({ ...SPEC, id, hostname: `host-${id}` }, signal);
      const files = await Promise.all(ids.map(async (id) => JSON.parse(await readFile(join(stateDir, id, 'machine.json'), 'utf8')).state));
      expect(files.every((state) => typeof state === 'string')).toBe(true);
      const facts = await Promise.all(
        ids.map(async (id) => {
          await running(id);
          const client = await connect({ ...SPEC, id });
          const [uuid = '', hostname = '', year = ''] = (
            await execute(client, 'cat /proc/sys/kernel/random/uuid; hostname; date +%Y')
          ).split('\n');
          return { uuid, hostname, year, own: await guestsOwnRandomness(client) };
        }),
      );
      for (const name of ['uuid', 'hostname', 'own'] as const) expect(new Set(facts.map((each) => each[name])).size, name).toBe(ids.length);
      expect(facts.map(({ hostname }) => hostname)).toEqual(ids.map((id) => `host-${id}`));
      expect(new Set(facts.map(({ year }) => year))).toEqual(new Set([String(new Date().getFullYear())]));
    },
    TEST_MS,
  );

  it(
    'is found again by the next daemon, with its files after a kill',
    async () => {
      const { pid } = await driver.create(SPEC, signal);
      await running(SPEC.id);
      await execute(await connect(SPEC), 'echo kept > file; sync');
      await driver.close();
      driver = openDriver();
      expect(await driver.get(SPEC.id, signal)).toMatchObject({ pid, incarnation: 'first' });
      await running(SPEC.id);
      expect(await execute(await connect(SPEC), 'cat file')).toBe('kept\n');
      process.kill(pid ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'exited' }), WAIT);
      const second = { ...SPEC, incarnation: 'second' };
      await vi.waitFor(() => driver.create(second, signal), WAIT);
      await running(SPEC.id);
      expect(await execute(await connect(second), 'cat file')).toBe('kept\n');
    },
    TEST_MS,
  );
});

function openDriver(): VmDriver {
  if (here.support === undefined) throw new Error(here.reason);
  const { support } = here;
  return vmDriver({ stateDir, log: silentLogger, support, findImage: () => findTestImage(bundle.path) });
}

async function running(id: string): Promise<void> {
  const state = await vi.waitFor(async () => {
    const found = await driver.get(id, signal);
    expect(found?.phase).not.toBe('starting');
    return found;
  }, WAIT);
  expect(state, state?.failure).toMatchObject({ phase: 'running' });
}

async function connect(spec: WorkspaceSpec): Promise<GuestClient> {
  return connectGuest(await driver.connect(spec.id, 'control', signal), spec);
}

async function execute(client: GuestClient, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await client.call('exec', { command, timeoutMs: 120_000 }, { deadlineMs: 150_000 });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** A file that is written gets a random name first: of the guest's own process, which was running when its template was saved. */
async function guestsOwnRandomness(client: GuestClient): Promise<string> {
  const watching = client.call('exec', {
    command: `perl -e 'for (1..3000) { opendir(D, "."); for (readdir D) { if (/^\\.agentiso-(.*)\\.tmp/) { print $1; exit } } select(undef, undef, undef, 0.01) }'`,
    timeoutMs: 60_000,
  });
  const { result, up } = client.open('fileWrite', { path: 'written' });
  up.content.write('x');
  const { stdout } = await watching;
  up.content.end();
  await result;
  expect(stdout).toMatch(/^[0-9a-f-]{36}$/);
  return stdout;
}

async function deleteFully(id: string): Promise<void> {
  await vi.waitFor(async () => {
    await driver.delete(id, signal);
    expect(await driver.get(id, signal)).toBeUndefined();
  }, WAIT);
}
