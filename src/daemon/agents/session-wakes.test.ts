import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import type { Session, SessionState } from '#guest/sessions.ts';
import { sessionWakes } from './session-wakes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const CONNECTED = { isControlOpen: true, isRelayOpen: true, lastHeartbeatMs: 0 };

function setUp(desiredState: 'Running' | 'Stopped' = 'Running') {
  const woken: string[] = [];
  const listeners = new Set<(id: string) => void>();
  const sessions = new Map<string, Session>();
  const stop = sessionWakes({
    sessions: {
      get: (id) => sessions.get(id),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    agentByUid: (uid) => ({ metadata: { uid }, spec: { desiredState } }) as unknown as Agent,
    wake: (uid) => void woken.push(uid),
  });
  const change = (id: string, state: SessionState | undefined = CONNECTED) => {
    if (state) sessions.set(id, { id, incarnation: '1', state } as Session);
    for (const listener of listeners) listener(id);
  };
  return { sessions, change, stop, take: () => woken.splice(0), listeners };
}

it('looks at once at what is new, and again, once, after a pause, at what goes on', () => {
  const { change, take } = setUp();
  change('a');
  for (let count = 0; count < 5; count++) change('a');
  change('b');
  expect(take()).toEqual(['a', 'b']);
  vi.advanceTimersByTime(999);
  expect(take()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(take()).toEqual(['a']);
  vi.advanceTimersByTime(5_000);
  expect(take()).toEqual([]);
  change('a');
  expect(take()).toEqual(['a']);
});

it('waits with nothing that concerns the connection', () => {
  const { sessions, change, take } = setUp();
  change('a');
  change('a', { ...CONNECTED, isRelayOpen: false });
  change('a', { ...CONNECTED, isRelayOpen: false, problem: 'refused' });
  expect(take()).toEqual(['a', 'a', 'a']);
  change('a', { ...CONNECTED, isRelayOpen: false, problem: 'refused' });
  sessions.delete('a');
  change('a', undefined);
  expect(take()).toEqual(['a']);
  expect(vi.getTimerCount()).toBe(0);
});

it('waits with nothing for an agent that is to stop', () => {
  const { change, take } = setUp('Stopped');
  for (let count = 0; count < 3; count++) change('a');
  expect(take()).toEqual(['a', 'a', 'a']);
});

it('leaves nothing behind', () => {
  const { change, stop, listeners } = setUp();
  change('a');
  change('a');
  expect(vi.getTimerCount()).toBe(1);
  stop();
  expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0]);
});
