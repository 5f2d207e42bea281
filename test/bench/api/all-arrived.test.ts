import { describe, expect, it } from 'vitest';
import { awaitAll } from './all-arrived.ts';

describe('awaitAll', () => {
  it('waits for the last watcher, and only for events that match', async () => {
    const all = awaitAll<string>(2);
    let isOver = false;
    const timed = all.time(
      (event) => event === 'new',
      async () => undefined,
    );
    void timed.then(() => {
      isOver = true;
    });
    all.arrive(0, 'new');
    all.arrive(1, 'old');
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    all.arrive(1, 'new');
    expect(await timed).toBeGreaterThan(0);
  });

  it('does not count one watcher for two', async () => {
    const all = awaitAll<string>(2);
    const timed = all.time(
      () => true,
      async () => undefined,
    );
    all.arrive(0, 'new');
    all.arrive(0, 'new');
    await expect(timed).rejects.toThrow('twice');
  });

  it('fails with its cause', async () => {
    const all = awaitAll<string>(1);
    const timed = all.time(
      () => true,
      async () => {
        throw new Error('refused');
      },
    );
    await expect(timed).rejects.toThrow('refused');
  });
});
