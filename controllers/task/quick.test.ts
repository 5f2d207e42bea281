import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { OK, setUp } from './controller.fixture.ts';

/** Handed over, in a world in which commands may take so long without being said to run. */
async function handedOver(spec: JsonObject = {}) {
  const world = setUp({ quickMs: 50 });
  await world.readyAgent('a-worker');
  await world.client.create<Task>(newTask('a-one', spec));
  await world.look();
  const claimed = world.task()?.metadata.resourceVersion;
  const answer = await world.look();
  const [run] = world.attempts.runs;
  if (!run) throw new Error('nothing was handed over');
  return { ...world, run, claimed, answer };
}

describe('a command that has just been handed over', () => {
  it('is not said to run, and looked at again soon', async () => {
    const { task, claimed, answer } = await handedOver();
    expect([task()?.metadata.resourceVersion, answer]).toEqual([claimed, { requeueAfterMs: 50 }]);
  });

  it('is handed over once, however often it is looked at', async () => {
    const { look, attempts, pass, task } = await handedOver();
    attempts.failure = new UnavailableError('it would be handed over once more');
    pass(20);
    expect(await look()).toEqual({ requeueAfterMs: 30 });
    pass(30);
    await look();
    expect(task()?.status?.phase).toBe('Running');
  });

  it('goes from Claimed to its end with one write, and with the time at which it began', async () => {
    const { look, task, run, claimed, attempts, pass } = await handedOver();
    pass(20);
    run.end(OK);
    await look();
    expect(task()?.status).toMatchObject({
      phase: 'Succeeded',
      startedAt: '2026-01-02T03:04:05.000Z',
      finishedAt: '2026-01-02T03:04:05.020Z',
    });
    expect(Number(task()?.metadata.resourceVersion)).toBe(Number(claimed) + 1);
    await look();
    expect(attempts.accepted).toHaveLength(1);
  });

  it('is said to run, since it was handed over, when it takes longer', async () => {
    const { look, task, pass } = await handedOver();
    pass(60);
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect(task()?.status).toMatchObject({ phase: 'Running', startedAt: '2026-01-02T03:04:05.000Z' });
  });

  it('is ended when it is cancelled', async () => {
    const { look, edit, task, attempts } = await handedOver();
    await edit({ cancelled: true });
    await look();
    expect([task()?.status?.phase, task()?.status?.reason, attempts.revoked.length]).toEqual(['Failed', 'Cancelled', 1]);
  });

  it('is found by the next daemon, which hands it over again, to no effect', async () => {
    const { look, task, attempts, newController, run, pass } = await handedOver();
    const next = newController(attempts.restart());
    await look(next);
    pass(50);
    await look(next);
    expect([task()?.status?.phase, attempts.runs.length]).toEqual(['Running', 1]);
    run.end(OK);
    await look(next);
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
  });

  it.each([
    { name: 'others keep off its files', spec: { files: ['src/**'] } },
    { name: 'what a prompt uses is counted while it runs', spec: { prompt: 'do it' } },
  ])('is said to run at once where $name', async ({ spec }) => {
    const { client, look, task, readyAgent } = setUp({ quickMs: 50 });
    await readyAgent('a-worker', { backend: 'codex' });
    await client.create<Task>(newTask('a-one', spec));
    await look();
    await look();
    expect([task()?.status?.phase, conditionOf(task(), 'Ready')]).toEqual(['Running', 'True Claimed: attempt 1 on a-worker']);
  });
});
