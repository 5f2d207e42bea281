/** How workspaces end: stopped, or deleted with all that was theirs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '#drivers/driver.ts';
import { readProcessIdentity } from '#lib/process-identity.ts';
import { ask, deleteFully, killGuest, run, SIGNAL, SPEC, stopFully } from '../support/driver-steps.ts';
import { isPidAlive } from '../support/pid.ts';
import { processesMentioning } from '../support/processes.ts';
import { type Differences, type DriverUnderTest, type Given, SECOND } from './driver-subject.ts';

export function endConformance(given: () => Given, { isMachine }: Differences): void {
  let subject: DriverUnderTest;
  let driver: Driver;

  beforeEach(() => {
    ({ subject, driver } = given());
  });

  describe('stop', () => {
    it('ends the guest and keeps the files for the next incarnation', async () => {
      const { pid } = await driver.create(SPEC, SIGNAL);
      await run(driver, 'echo kept > file');
      await stopFully(driver, SPEC.id);
      expect(isPidAlive(pid ?? 0)).toBe(false);
      expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited', incarnation: SPEC.incarnation });
      await driver.create(SECOND, SIGNAL);
      expect(await run(driver, 'cat file')).toBe('kept\n');
    });

    it('of what is not there is done at once', async () => {
      expect(await driver.stop(SPEC.id, SIGNAL)).toBe(true);
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });

    it('works when the folder was taken away under the guest', async () => {
      const { pid } = await driver.create(SPEC, SIGNAL);
      await ask(driver, {});
      await subject.removeFolder(SPEC.id);
      await stopFully(driver, SPEC.id);
      expect(isPidAlive(pid ?? 0)).toBe(false);
      await deleteFully(driver, SPEC.id);
    });
  });

  describe('delete', () => {
    it('leaves nothing behind', async () => {
      const { pid } = await driver.create(SPEC, SIGNAL);
      const mark = 'sleep 98765.4321';
      await run(driver, `setsid sh -c 'echo up > escaped; ${mark}; :' > /dev/null 2>&1 & while [ ! -s escaped ]; do sleep 0.01; done`);
      const escaped = processesMentioning(mark).concat(processesMentioning(mark.replace(' ', '\0')));
      // What runs inside a machine ends with it, and this one sees nothing of it.
      if (isMachine) expect(escaped).toEqual([]);
      else expect(escaped).not.toEqual([]);
      expect(await subject.traces(SPEC.id)).not.toEqual([]);
      await deleteFully(driver, SPEC.id);
      expect(await subject.traces(SPEC.id)).toEqual([]);
      expect([pid ?? 0, ...escaped].filter(isPidAlive)).toEqual([]);
    });

    it('can be repeated, and asked for what never was', async () => {
      await driver.create(SPEC, SIGNAL);
      await deleteFully(driver, SPEC.id);
      await driver.delete(SPEC.id, SIGNAL);
      await driver.delete('never-made', SIGNAL);
      expect(await driver.get(SPEC.id, SIGNAL)).toBeUndefined();
    });

    it('is still to be done for one that has ended without its folder: other things of it may be left', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      await ask(driver, {});
      await subject.removeFolder(SPEC.id);
      await killGuest(driver, state);
      await deleteFully(driver, SPEC.id);
    });

    it('makes room for a new workspace with the same id', async () => {
      const before = await driver.create(SPEC, SIGNAL);
      await run(driver, 'echo old > file');
      await deleteFully(driver, SPEC.id);
      const after = await driver.create(SPEC, SIGNAL);
      expect(after.pid).not.toBe(before.pid);
      expect(await run(driver, 'ls')).toBe('');
    });

    it('never kills a process that only has the pid of the workspace', async () => {
      const state = await driver.create(SPEC, SIGNAL);
      const startTime = readProcessIdentity(state.pid ?? 0)?.startTime;
      await killGuest(driver, state);
      const stranger = startStranger(startTime);
      const exited = once(stranger, 'exit');
      await subject.recordStalePid(SPEC.id, stranger.pid ?? 0);
      const restarted = await given().reopen();
      expect(await restarted.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited' });
      await deleteFully(restarted, SPEC.id);
      expect(isPidAlive(stranger.pid ?? 0)).toBe(true);
      stranger.kill('SIGKILL');
      await exited;
    });
  });
}

/** Started at another tick of the clock, as whoever gets a used pid always is. */
function startStranger(guestStartTime: number | undefined): ChildProcess {
  for (;;) {
    const stranger = spawn('sleep', ['1000']);
    if (readProcessIdentity(stranger.pid ?? 0)?.startTime !== guestStartTime) return stranger;
    stranger.kill('SIGKILL');
  }
}
