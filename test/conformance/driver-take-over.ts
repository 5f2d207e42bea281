/** What the next daemon finds when the one before was killed. */
import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { ask, changes, createWhenPossible, deleteFully, run, SIGNAL, SPEC, startHost } from '../support/driver-steps.ts';
import { type DriverUnderTest, type Given, SECOND } from './driver-subject.ts';

export function takeOverConformance(given: () => Given): void {
  let subject: DriverUnderTest;

  const host = (...specs: WorkspaceSpec[]) => startHost(subject, specs);

  beforeEach(() => {
    ({ subject } = given());
  });

  describe('a daemon that is killed', () => {
    it('leaves its guests running for the next one, which takes them over and notices their end', async () => {
      const daemon = host(SPEC);
      await daemon.said('running');
      const { pid } = (await (await given().reopen()).get(SPEC.id, SIGNAL)) ?? {};
      await daemon.kill();
      const next = await given().reopen();
      expect(await next.create(SPEC, SIGNAL)).toMatchObject({ phase: 'running', pid, incarnation: SPEC.incarnation });
      expect(await ask(next, {}, 'relay')).toMatchObject({ incarnation: SPEC.incarnation });
      expect(await run(next, 'echo alive')).toBe('alive\n');
      expect((await next.usage(SPEC.id, SIGNAL))?.processes).toBeGreaterThan(0);
      const changed = once(changes(next), 'change');
      process.kill(pid ?? Number.NaN, 'SIGKILL');
      await changed;
      expect(await next.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited', failure: expect.any(String) });
      await createWhenPossible(next, SECOND);
      expect(await ask(next, {})).toMatchObject({ incarnation: 'second' });
    });

    it('leaves nothing that cannot be found, at whatever moment of a create it dies', async () => {
      const seed = Date.now() % 100_000;
      for (let round = 0; round < 10; round++) {
        const id = `round-${round}`;
        const daemon = host({ ...SPEC, id });
        await daemon.said('creating');
        const afterMs = ((seed + round * 7919) % 100) * 1.2;
        // The moment of the kill is what is tested: nothing else is waited for.
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await daemon.kill();
        const next = await given().reopen();
        const found = await next.list(SIGNAL);
        const running = subject.processes(id);
        expect(found.length, `seed ${seed}, round ${round}, killed after ${afterMs} ms`).toBeGreaterThanOrEqual(running.length > 0 ? 1 : 0);
        if (round % 2 === 0) {
          await createWhenPossible(next, { ...SPEC, id });
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
