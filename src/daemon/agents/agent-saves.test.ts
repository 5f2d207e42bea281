import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Saves, scheduleSaves } from './agent-saves.ts';

const EVERY_MS = 60_000;
let heartbeats: Map<string, { runningTasks: { taskUid: string; attempt: number }[]; pendingResults: number; head?: string }>;
let changed: (uid: string) => void;
let saved: string[];
let canSave: boolean;
let working: string[];
let safe: Map<string, string>;
let saves: Saves;

beforeEach(() => {
  vi.useFakeTimers();
  heartbeats = new Map();
  saved = [];
  working = [];
  safe = new Map();
  canSave = true;
  const sessions = {
    get: (uid: string) => ({ state: { heartbeat: heartbeats.get(uid) } }) as never,
    onChange(listener: (uid: string) => void) {
      changed = listener;
      return () => undefined;
    },
  };
  const save = async (uid: string) => {
    saved.push(uid);
    await Promise.resolve();
    return canSave;
  };
  saves = scheduleSaves({ sessions, save, savedHead: (uid) => safe.get(uid), working: () => working, everyMs: EVERY_MS });
});
afterEach(() => {
  saves.close();
  vi.useRealTimers();
});

async function beat(uid: string, running: number, pendingResults = 0): Promise<void> {
  heartbeats.set(uid, { runningTasks: Array.from({ length: running }, (_, attempt) => ({ taskUid: 't', attempt })), pendingResults });
  changed(uid);
  await vi.advanceTimersByTimeAsync(0);
}

it('saves when a task ends, also one that nobody saw running', async () => {
  await beat('long', 1);
  expect(saved).toEqual([]);
  await beat('long', 0);
  await beat('short', 0, 1);
  expect(saved).toEqual(['long', 'short']);
  await beat('short', 0, 0);
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(saved).toEqual(['long', 'short']);
});

it('saves every minute while a task runs, and an idle agent never', async () => {
  await beat('busy', 1);
  await beat('idle', 0);
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(saved).toEqual(['busy', 'busy', 'busy']);
});

it('saves those who took tasks by themselves, and once after they have none', async () => {
  working = ['taker'];
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  working = [];
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(saved).toEqual(['taker', 'taker']);
});

it('tries again until it succeeds, and once more when asked meanwhile', async () => {
  canSave = false;
  await beat('one', 0, 1);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  canSave = true;
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(saved).toHaveLength(4);
  saved = [];
  heartbeats.set('one', { runningTasks: [], pendingResults: 1 });
  changed('one');
  changed('one');
  changed('one');
  await vi.advanceTimersByTimeAsync(0);
  expect(saved).toEqual(['one', 'one']);
});

async function commit(uid: string, head: string): Promise<void> {
  heartbeats.set(uid, { runningTasks: [], pendingResults: 0, head });
  changed(uid);
  await vi.advanceTimersByTimeAsync(0);
}

it('saves soon after a commit that a guest tells of, once for several, and not what is safe already', async () => {
  safe.set('one', 'base');
  await commit('one', 'base');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual([]);
  for (const head of ['a', 'b', 'c']) await commit('one', head);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual(['one']);
  // One that is refused is not tried with every sign of life.
  for (let beat = 0; beat < 3; beat++) await commit('one', 'c');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual(['one']);
  await commit('one', 'd');
  safe.set('one', 'd');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual(['one']);
  await commit('two', 'x');
  saves.forget('two');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual(['one']);
});
