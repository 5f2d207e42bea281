/** What every driver must do, whatever it isolates with. Each driver runs it: from driver.test.ts with a stand-in for the guest agent, machines from vm.test.ts. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Driver } from '#drivers/driver.ts';
import { NotFoundError, StalledError, WaitingError } from '#lib/errors.ts';
import { ask, createWhenPossible, deleteFully, killGuest, run, SIGNAL, SPEC, stopFully, WAIT } from '../support/driver-steps.ts';
import { STAND_IN_PATH } from '../support/guest-stand-in.ts';
import { openDriver } from '../support/open-driver.ts';
import { isPidAlive } from '../support/pid.ts';
import { endConformance } from './driver-end.ts';
import { type Differences, type DriverUnderTest, type Given, SECOND } from './driver-subject.ts';
import { takeOverConformance } from './driver-take-over.ts';

/** Of every workspace that a test here makes. */
const IDS = [SPEC.id, 'base', 'another', ...Array.from({ length: 10 }, (_, round) => `round-${round}`)];

/** What makes no sense for a driver is no test of it. */
const unfit = (_name: string, _test: () => Promise<void>): void => {};

export function driverConformance(newDriver: () => Promise<DriverUnderTest>, { isMachine }: Differences = { isMachine: false }): void {
  let subject: DriverUnderTest;
  let driver: Driver;

  const reopen = async () => {
    const { kind, stateDir, guestAgentPath = STAND_IN_PATH } = subject;
    await subject.letGo?.();
    const opened = await openDriver(kind, { stateDir, guestAgentPath, stopGraceMs: 2_000 });
    subject.opened?.(opened);
    return opened;
  };
  const given = (): Given => ({ subject, driver, reopen });

  beforeEach(async () => {
    subject = await newDriver();
    driver = subject.driver;
  });

  afterEach(async () => {
    const last = await reopen();
    for (const { id } of await last.list(SIGNAL)) await deleteFully(last, id);
    expect([...subject.processes(...IDS), ...(await subject.traces(...IDS))]).toEqual([]);
    await subject.dispose();
  });

  describe('create', () => {
    it.each(['control', 'relay'] as const)('starts a workspace that a host can talk to on the %s port', async (port) => {
      const state = await driver.create(SPEC, SIGNAL);
      expect(state).toMatchObject({ id: SPEC.id, incarnation: SPEC.incarnation });
      expect(await ask(driver, {}, port)).toMatchObject({ port, id: SPEC.id, incarnation: SPEC.incarnation });
      expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'running' });
    });

    it('is idempotent by id, also at the same moment', async () => {
      const states = await Promise.all([driver.create(SPEC, SIGNAL), driver.create(SPEC, SIGNAL)]);
      const again = await driver.create(SPEC, SIGNAL);
      expect(new Set([...states, again].map(({ pid }) => pid)).size).toBe(1);
      expect(await driver.list(SIGNAL)).toHaveLength(1);
    });

    it('does not start an exited incarnation again', async () => {
      await killGuest(driver, await driver.create(SPEC, SIGNAL));
      expect(await driver.create(SPEC, SIGNAL)).toMatchObject({ phase: 'exited', incarnation: SPEC.incarnation });
      expect(await (await reopen()).create(SPEC, SIGNAL)).toMatchObject({ phase: 'exited', incarnation: SPEC.incarnation });
    });

    it('starts a new incarnation of an exited workspace with the files of the old one', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      await run(driver, 'echo kept > file');
      await killGuest(driver, state);
      expect(await createWhenPossible(driver, SECOND)).toMatchObject({ incarnation: 'second' });
      expect(await run(driver, 'cat file')).toBe('kept\n');
    });

    it('ends the incarnation before, and only then starts the next', async () => {
      const { pid } = await driver.create(SPEC, SIGNAL);
      await ask(driver, {});
      await expect(driver.create(SECOND, SIGNAL)).rejects.toBeInstanceOf(WaitingError);
      const next = await createWhenPossible(driver, SECOND);
      expect(isPidAlive(pid ?? 0)).toBe(false);
      expect(next.pid).not.toBe(pid);
      expect(await ask(driver, {})).toMatchObject({ incarnation: 'second' });
    });

    // A machine's files are on its disk, where nobody finds a folder to begin another with; vm-driver.test.ts has a base of this machine's.
    (isMachine ? unfit : it)('begins with the files of the base, and leaves the base as it is', async () => {
      const base = { ...SPEC, id: 'base' };
      await driver.create(base, SIGNAL);
      await run(driver, 'mkdir sub; echo base > sub/file', base.id);
      const path = `${subject.stateDir}/base/workspace`;
      await driver.create({ ...SPEC, base: path }, SIGNAL);
      expect(await run(driver, 'cat sub/file; echo changed > sub/file; cat sub/file')).toBe('base\nchanged\n');
      expect(await run(driver, 'cat sub/file', base.id)).toBe('base\n');
      await stopFully(driver, SPEC.id);
      await driver.create({ ...SECOND, base: path }, SIGNAL);
      expect(await run(driver, 'cat sub/file')).toBe('changed\n');
      await deleteFully(driver, SPEC.id);
    });

    it.each(['', '..', 'a/b', '-a'])('refuses the id %j', async (id) => {
      await expect(async () => driver.create({ ...SPEC, id }, SIGNAL)).rejects.toBeInstanceOf(StalledError);
      await expect(async () => driver.get(id, SIGNAL)).rejects.toBeInstanceOf(StalledError);
    });
  });

  describe('get', () => {
    it('knows nothing of a workspace that was never made', async () => {
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });

    it('says that and why a workspace exited, and onChange said so', async () => {
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
    it('has every workspace and no other', async () => {
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
    it('finds no workspace that was never made', async () => {
      await expect(driver.connect(SPEC.id, 'control', SIGNAL)).rejects.toBeInstanceOf(NotFoundError);
    });

    // The sockets of a machine are QEMU's: nobody inside can put anything in their place.
    (isMachine ? unfit : it)('does not follow a link that somebody put in the place of a socket', async () => {
      await driver.create(SPEC, SIGNAL);
      await ask(driver, {});
      const { stdout } = await ask(driver, { command: 'echo "$AGENTISO_WORKSPACE"' });
      const run = String(stdout).startsWith('/workspace') ? '/run/agentiso' : driver.runDirectory(SPEC.id);
      await ask(driver, { command: `rm ${run}/relay.sock && ln -s ${run}/control.sock ${run}/relay.sock` });
      await expect(driver.connect(SPEC.id, 'relay', SIGNAL)).rejects.toMatchObject({ code: expect.stringMatching(/Forbidden|ELOOP/) });
    });
  });

  describe('usage', () => {
    it('says what runs uses, commands included, and nothing of what does not run', async () => {
      expect(await driver.usage(SPEC.id, SIGNAL)).toBeUndefined();
      await driver.create(SPEC, SIGNAL);
      await ask(driver, {});
      const before = await driver.usage(SPEC.id, SIGNAL);
      expect(before?.memoryBytes).toBeGreaterThan(1_000_000);
      await run(driver, `i=0; while [ $i -lt ${isMachine ? 3_000 : 300_000} ]; do i=$((i+1)); done; sleep 1000 > /dev/null 2>&1 & :`);
      const after = await driver.usage(SPEC.id, SIGNAL);
      expect(after?.cpuMs).toBeGreaterThan(before?.cpuMs ?? 0);
      // Those inside a machine are not this one's.
      if (!isMachine) expect(after?.processes).toBeGreaterThan(before?.processes ?? 0);
      await stopFully(driver, SPEC.id);
      expect(await driver.usage(SPEC.id, SIGNAL)).toBeUndefined();
    });
  });

  endConformance(given, { isMachine });
  takeOverConformance(given, { isMachine });
}
