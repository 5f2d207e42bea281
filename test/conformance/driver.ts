/** What every driver must do, whatever it isolates with. Each driver runs it from driver.test.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Driver, WorkspaceSpec, WorkspaceState } from '#drivers/driver.ts';
import { connectGuest } from '#guest/client.ts';
import { NotFoundError, WaitingError } from '#lib/errors.ts';
import { isPidAlive } from '../support/running-guest.ts';

export interface DriverUnderTest {
  readonly driver: Driver;
  /** A second driver over the same state, as after a restart of the daemon. */
  reopen(): Driver;
  /** What is left of this workspace in the file system, whatever the driver says. */
  traces(id: string): Promise<string[]>;
  /** Makes the driver's record of an exited workspace name a live process that has nothing to do with it. */
  recordStalePid(id: string, pid: number): Promise<void>;
  dispose(): Promise<void>;
}

export interface SkippedTest {
  readonly test: string;
  readonly reason: string;
}

const SIGNAL = new AbortController().signal;
const SPEC: WorkspaceSpec = { id: '0b6c7a52-7f0e-4c57-9d6a-1f4b1a3c5d7e', incarnation: 'first', hostname: 'agent-1' };
const WAIT = { timeout: 20_000, interval: 20 };

export function driverConformance(newDriver: () => Promise<DriverUnderTest>, { skip = [] }: { skip?: readonly SkippedTest[] } = {}): void {
  let subject: DriverUnderTest;
  let driver: Driver;

  const test = (name: string, body: () => Promise<void>) => {
    const skipped = skip.find((each) => each.test === name);
    if (skipped === undefined) it(name, body);
    else it.skip(`${name} (${skipped.reason})`, body);
  };

  beforeEach(async () => {
    subject = await newDriver();
    driver = subject.driver;
  });

  afterEach(async () => {
    for (const { id } of await driver.list(SIGNAL)) await deleteFully(driver, id);
    await subject.dispose();
  });

  describe('create', () => {
    test('starts a workspace that a host can talk to', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      expect(state).toMatchObject({ id: SPEC.id, incarnation: SPEC.incarnation });
      const client = await connectGuest(await connectWhenReady(driver), SPEC);
      expect(await client.call('exec', { command: 'echo hello', timeoutMs: 30_000 })).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
      expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'running' });
      client.close('the test is over');
    });

    test('is idempotent by id, also at the same moment', async () => {
      const states = await Promise.all([driver.create(SPEC, SIGNAL), driver.create(SPEC, SIGNAL)]);
      const again = await driver.create(SPEC, SIGNAL);
      expect(new Set([...states, again].map(({ pid }) => pid)).size).toBe(1);
      expect(await driver.list(SIGNAL)).toHaveLength(1);
    });

    test('does not start an exited incarnation again', async () => {
      await killGuest(driver, await driver.create(SPEC, SIGNAL));
      expect(await driver.create(SPEC, SIGNAL)).toMatchObject({ phase: 'exited', incarnation: SPEC.incarnation });
    });

    test('starts a new incarnation of an exited workspace with the files of the old one', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      const first = await connectGuest(await connectWhenReady(driver), SPEC);
      await first.call('exec', { command: 'echo kept > file', timeoutMs: 30_000 });
      await killGuest(driver, state);
      const next = { ...SPEC, incarnation: 'second' };
      expect(await driver.create(next, SIGNAL)).toMatchObject({ incarnation: 'second' });
      const second = await connectGuest(await connectWhenReady(driver), next);
      expect(await second.call('exec', { command: 'cat file', timeoutMs: 30_000 })).toMatchObject({ stdout: 'kept\n' });
      second.close('the test is over');
    });
  });

  describe('get', () => {
    test('knows nothing of a workspace that was never made', async () => {
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });

    test('says that and why a workspace exited, and onChange said so', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      const changed = vi.fn();
      const stop = driver.onChange(changed);
      await killGuest(driver, state);
      await vi.waitFor(() => expect(changed).toHaveBeenCalledWith(SPEC.id), WAIT);
      expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited', failure: expect.stringContaining('SIGKILL') });
      stop();
    });
  });

  describe('list', () => {
    test('has every workspace and no other', async () => {
      expect(await driver.list(SIGNAL)).toEqual([]);
      const other = { ...SPEC, id: 'another' };
      await driver.create(SPEC, SIGNAL);
      await driver.create(other, SIGNAL);
      expect((await driver.list(SIGNAL)).map(({ id }) => id).sort()).toEqual([SPEC.id, other.id].sort());
      await deleteFully(driver, other.id);
      expect((await driver.list(SIGNAL)).map(({ id }) => id)).toEqual([SPEC.id]);
    });
  });

  describe('connect', () => {
    test('finds no workspace that was never made', async () => {
      await expect(driver.connect(SPEC.id, SIGNAL)).rejects.toBeInstanceOf(NotFoundError);
    });
  });

  describe('stop', () => {
    test('ends the guest and its commands and keeps the files for the next incarnation', async () => {
      await driver.create(SPEC, SIGNAL);
      const first = await connectGuest(await connectWhenReady(driver), SPEC);
      await first.call('exec', { command: 'echo kept > file', timeoutMs: 30_000 });
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, SIGNAL)).toBe(true), WAIT);
      expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited', incarnation: SPEC.incarnation });
      const next = { ...SPEC, incarnation: 'second' };
      await driver.create(next, SIGNAL);
      const second = await connectGuest(await connectWhenReady(driver), next);
      expect(await second.call('exec', { command: 'cat file', timeoutMs: 30_000 })).toMatchObject({ stdout: 'kept\n' });
    });

    test('of what is not there is done at once', async () => {
      expect(await driver.stop(SPEC.id, SIGNAL)).toBe(true);
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });
  });

  describe('delete', () => {
    test('leaves nothing behind', async () => {
      const { pid } = await driver.create(SPEC, SIGNAL);
      const client = await connectGuest(await connectWhenReady(driver), SPEC);
      const leaveGroup = `setsid sh -c 'echo $$ > escaped; exec sleep 1000' > /dev/null 2>&1 &`;
      const command = `${leaveGroup} while [ ! -s escaped ]; do sleep 0.01; done; cat escaped`;
      const { stdout } = await client.call('exec', { command, timeoutMs: 30_000 });
      const pids = [pid ?? 0, Number(stdout)];
      expect(pids.filter(isPidAlive)).toEqual(pids);
      expect(await subject.traces(SPEC.id)).not.toEqual([]);
      await deleteFully(driver, SPEC.id);
      expect(await subject.traces(SPEC.id)).toEqual([]);
      expect(pids.filter(isPidAlive)).toEqual([]);
    });

    test('can be repeated, and asked for what never was', async () => {
      await driver.create(SPEC, SIGNAL);
      await deleteFully(driver, SPEC.id);
      await driver.delete(SPEC.id, SIGNAL);
      await driver.delete('never-made', SIGNAL);
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });

    test('makes room for a new workspace with the same id', async () => {
      const before = await driver.create(SPEC, SIGNAL);
      await deleteFully(driver, SPEC.id);
      const after = await driver.create(SPEC, SIGNAL);
      expect(after.pid).not.toBe(before.pid);
      expect(after.phase).not.toBe('exited');
    });

    test('never kills a process that only has the pid of the workspace', async () => {
      await killGuest(driver, await driver.create(SPEC, SIGNAL));
      const stranger = spawn('sleep', ['1000']);
      const exited = once(stranger, 'exit');
      await subject.recordStalePid(SPEC.id, stranger.pid ?? 0);
      const restarted = subject.reopen();
      expect(await restarted.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited' });
      await deleteFully(restarted, SPEC.id);
      expect(isPidAlive(stranger.pid ?? 0)).toBe(true);
      stranger.kill('SIGKILL');
      await exited;
    });
  });
}

async function deleteFully(driver: Driver, id: string): Promise<void> {
  await vi.waitFor(async () => {
    await driver.delete(id, SIGNAL);
    expect(await driver.get(id, SIGNAL)).toBeUndefined();
  }, WAIT);
}

/** Only ever the process the driver itself named as this workspace. */
async function killGuest(driver: Driver, { id, pid }: WorkspaceState): Promise<void> {
  if (pid === undefined) throw new Error('a workspace that was just created has a pid');
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await driver.get(id, SIGNAL)).toMatchObject({ phase: 'exited' }), WAIT);
}

function connectWhenReady(driver: Driver) {
  return vi.waitFor(async () => {
    const attempt = driver.connect(SPEC.id, SIGNAL);
    await attempt.catch((error: unknown) => expect(error).toBeInstanceOf(WaitingError));
    return attempt;
  }, WAIT);
}
