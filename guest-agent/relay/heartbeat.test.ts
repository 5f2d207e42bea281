import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Heartbeat } from './heartbeat.ts';

let beats: number;
let answer: () => void;
let heartbeat: Heartbeat;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  beats = 0;
  heartbeat = new Heartbeat(() => {
    beats += 1;
    return new Promise<void>((resolve) => {
      answer = resolve;
    });
  });
});

afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

/** The host has answered, and so much time has passed. */
async function pass(ms: number): Promise<void> {
  answer();
  await vi.advanceTimersByTimeAsync(ms);
}

it('of a change waits until the last one is a quarter of a second old, of a result it does not', async () => {
  heartbeat.start();
  await pass(5);
  heartbeat.changed();
  await pass(200);
  expect(beats).toBe(1);
  await pass(50);
  expect(beats).toBe(2);
  await pass(20);
  heartbeat.changed();
  heartbeat.urgent();
  await pass(1);
  expect(beats).toBe(3);
  await pass(9_000);
  expect(beats).toBe(3);
});

it('tells of results that come together once, and of one that comes while it is on its way right after', async () => {
  heartbeat.start();
  await pass(20);
  heartbeat.urgent();
  heartbeat.urgent();
  await vi.advanceTimersByTimeAsync(1);
  expect(beats).toBe(2);
  heartbeat.urgent();
  heartbeat.changed();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(beats).toBe(2);
  await pass(10);
  expect(beats).toBe(3);
  await pass(500);
  expect(beats).toBe(3);
});

it('says nothing without a connection, and everything with the next', async () => {
  heartbeat.start();
  await pass(1);
  heartbeat.stop();
  heartbeat.urgent();
  await pass(20_000);
  expect(beats).toBe(1);
  heartbeat.start();
  await pass(20);
  heartbeat.urgent();
  await pass(1);
  expect(beats).toBe(3);
});
