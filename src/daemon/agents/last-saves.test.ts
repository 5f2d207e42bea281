import { expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { silentLogger } from '#lib/log.ts';
import { type LastSavesDeps, lastSaves } from './last-saves.ts';

const STATE: WorkspaceState = { id: 'uid', incarnation: 'first', phase: 'running' };
const agent = { metadata: { uid: 'uid', name: 'team-one', namespace: 'default' }, spec: { team: 'team' } } as Agent;

it.each([
  { when: 'before it is asked', states: [{ ...STATE, heldUp: 'its disk is full' }] },
  { when: 'while it is asked', states: [STATE, { ...STATE, heldUp: 'its disk is full' }] },
])('does not end what stands still by itself $when', async ({ states }) => {
  const stop = vi.fn(async () => true);
  const get = vi.fn(async () => states[Math.min(get.mock.calls.length, states.length) - 1]);
  const call = () => Promise.reject(new Error('no answer'));
  const session = { state: { isControlOpen: true }, incarnation: 'first', call, open: call };
  const close = vi.fn();
  const deps = { sessions: { get: () => session, close }, repository: {}, log: silentLogger, signal: new AbortController().signal };
  await expect(lastSaves(agent, [{ get, stop } as unknown as Driver], deps as unknown as LastSavesDeps)).rejects.toMatchObject({
    ...{ reason: 'HeldUp', message: 'its disk is full' },
  });
  expect([stop, close].map(({ mock }) => mock.calls)).toEqual([[], []]);
});
