import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WantOfRoom } from './want-of-room.ts';

/** QEMU as it behaves: `cont` runs the machine, and stops it again at once while there is no room. */
function machine() {
  const world = { status: 'running', hasRoom: true, isPaused: false, said: [] as string[], changes: [] as boolean[] };
  const execute = async (command: string) => {
    if (command === 'query-status') return { status: world.status };
    world.said.push(command);
    write();
    return {};
  };
  const want = new WantOfRoom({ qmp: { execute }, isPaused: () => world.isPaused, onChange: () => void world.changes.push(want.isWanted) });
  const write = () => {
    world.status = world.hasRoom ? 'running' : 'io-error';
    if (!world.hasRoom) want.hear({ event: 'BLOCK_IO_ERROR', data: { action: 'stop', nospace: true } });
  };
  return { world, want, write };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

describe('a machine whose disk cannot grow', () => {
  it('is let go on until its write succeeds, and says when it stands still and when it goes on', async () => {
    const { world, want, write } = machine();
    world.hasRoom = false;
    write();
    expect(want.isWanted).toBe(true);
    await seconds(3);
    expect(world.said).toEqual(['cont', 'cont', 'cont']);
    world.hasRoom = true;
    await seconds(2);
    expect(want.isWanted).toBe(true);
    await seconds(1);
    expect([want.isWanted, world.status, world.changes]).toEqual([false, 'running', [true, false]]);
    await seconds(5);
    expect(world.said).toHaveLength(4);
  });

  it('is not let go on while somebody keeps it still', async () => {
    const { world, write } = machine();
    world.hasRoom = false;
    write();
    Object.assign(world, { hasRoom: true, isPaused: true });
    await seconds(3);
    expect(world.said).toEqual([]);
    world.isPaused = false;
    await seconds(2);
    expect(world.said).toEqual(['cont']);
  });

  it('is found by whoever comes later', async () => {
    const { world, want } = machine();
    await want.look();
    expect(want.isWanted).toBe(false);
    world.status = 'io-error';
    await want.look();
    expect(want.isWanted).toBe(true);
    await seconds(3);
    expect([want.isWanted, world.said]).toEqual([false, ['cont']]);
  });

  it('is left alone when it is let go of', async () => {
    const { world, want, write } = machine();
    world.hasRoom = false;
    write();
    want.close();
    await seconds(3);
    expect([want.isWanted, world.said]).toEqual([false, []]);
  });

  it('means errors that stop it, not those that the guest is told of', () => {
    const { want } = machine();
    want.hear({ event: 'BLOCK_IO_ERROR', data: { action: 'report' } });
    want.hear({ event: 'STOP' });
    expect(want.isWanted).toBe(false);
  });
});
