import { describe, expect, it } from 'vitest';
import { spawnAllMs, spawnToStartMs } from './spawns.ts';

describe('bare spawns', () => {
  it('begin after they were wished for', async () => expect(await spawnToStartMs()).toBeGreaterThan(0));

  it('are as many as asked for, and fail when one does', async () => {
    expect(await spawnAllMs(3, { atOnce: 2, command: 'true' })).toBeGreaterThan(0);
    await expect(spawnAllMs(1, { atOnce: 1, command: 'false' })).rejects.toThrow();
  });
});
