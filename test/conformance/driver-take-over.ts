/** What the next daemon finds when the one before was killed. */
import { once } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Driver, WorkspaceSpec } from '#drivers/driver.ts';
import { ask, changes, createWhenPossible, deleteFully, run, SIGNAL, SPEC, startHost, WAIT } from '../support/driver-steps.ts';
import { type Differences, type DriverUnderTest, type Given, SECOND } from './driver-subject.ts';

export function takeOverConformance(given: () => Given, { isMachine }: Differences): void {
  let subject: DriverUnderTest;

  const host = (...specs: WorkspaceSpec[]) => startHost(subject, specs);

  beforeEach(() => {
    ({ subject } = given());
  });

  describe('a daemon that is killed', () => {
    it('leaves its guests running for the next one, which takes them over and notices their end', async () => {
      const daemon = host(SPEC);
      await daemon.said('running');
      const pid = daemon.pid();
      // A machine has ears for one daemon; the next one comes when that is gone, as daemons do.
      if (!isMachine) expect(await (await given().reopen()).get(SPEC.id, SIGNAL)).toMatchObject({ pid });
      await daemon.kill();
      const next = await given().reopen();
      // Whether a machine's guest has all it needs is asked anew.
      const phase = isMachine ? expect.stringMatching(/^(starting|running)$/) : 'running';
      expect(await next.create(SPEC, SIGNAL)).toMatchObject({ phase, pid, incarnation: SPEC.incarnation });
      expect(await ask(next, {}, 'relay')).toMatchObject({ incarnation: SPEC.incarnation });
      expect(await run(next, 'echo alive')).toBe('alive\n');
      expect((await next.usage(SPEC.id, SIGNAL))?.processes).toBeGreaterThan(0);
      const changed = once(changes(next), 'change');
      process.kill(pid, 'SIGKILL');
      await changed;
      expect(await next.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited', failure: expect.any(String) });
      await createWhenPossible(next, SECOND);
      expect(await ask(next, {})).toMatchObject({ incarnation: 'second' });
    });

    it('leaves nothing that cannot be found, at whatever moment of a create it dies', async () => {
      const seed = Date.now() % 100_000;
      // A machine takes longer from create to its guest, and so does every round.
      const [rounds, momentMs] = isMachine ? [5, 12] : [10, 1.2];
      for (let round = 0; round < rounds; round++) {
        const id = `round-${round}`;
        const daemon = host({ ...SPEC, id });
        await daemon.said('creating');
        const afterMs = ((seed + round * 7919) % 100) * momentMs;
        // The moment of the kill is what is tested: nothing else is waited for.
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await daemon.kill();
        const next = await given().reopen();
        const found = await next.list(SIGNAL);
        const running = subject.processes(id);
        expect(found.length, `seed ${seed}, round ${round}, killed after ${afterMs} ms`).toBeGreaterThanOrEqual(running.length > 0 ? 1 : 0);
        if (round % 2 === 0) {
          await createWhenPossible(next, { ...SPEC, id });
          if (isMachine) await startUnbegun(next, { ...SECOND, id });
          expect(await run(next, 'echo ready', id)).toBe('ready\n');
        }
        await deleteFully(next, id);
        expect(await subject.traces(id)).toEqual([]);
        expect(subject.processes(id)).toEqual([]);
      }
    });

    it('and a folder that is gone leave a guest that is still found and ended', async () => {
      const daemon = host(SPEC);
      await daemon.said('running');
      await daemon.kill();
      await subject.removeFolder(SPEC.id);
      const next = await given().reopen();
      expect(await next.list(SIGNAL)).toMatchObject([{ id: SPEC.id, incarnation: SPEC.incarnation }]);
      await deleteFully(next, SPEC.id);
      expect(await next.list(SIGNAL)).toEqual([]);
    });
  });
}

/** One whose state was just being loaded when its daemon died ends: it had not begun, and nothing of it is lost. */
async function startUnbegun(driver: Driver, next: WorkspaceSpec): Promise<void> {
  const phase = await vi.waitFor(async () => {
    const found = await driver.get(next.id, SIGNAL);
    expect(found?.phase).not.toBe('starting');
    return found?.phase;
  }, WAIT);
  if (phase === 'exited') await createWhenPossible(driver, next);
}
