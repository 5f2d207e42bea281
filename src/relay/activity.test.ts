/** The view of an agent's inbox: first news at once, a burst together, and the same until the next change. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { relayWorld } from './relay.fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets the real disk do its work without letting time pass. */
async function until(check: () => void): Promise<void> {
  for (let turns = 0; ; turns++) {
    try {
      return check();
    } catch (error) {
      if (turns > 2_000) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function watched() {
  const world = await relayWorld();
  const woken: string[] = [];
  const stop = world.relay.activity.changes(({ name }) => void woken.push(name));
  return { ...world, woken, stop, look: (name: string) => world.relay.activity.look(world.agent(name)) };
}

it('shows the inbox of an agent that nobody has written to', async () => {
  const { look } = await watched();
  const mailbox = { nextSeq: 1, deliveredSeq: 0, ackedSeq: 0, unacked: 0, deadLetters: 0 };
  expect(await look('a/coder')).toEqual({ mailbox, isFull: false });
});

it('wakes once for a burst, and shows the same until then', async () => {
  const { send, look, woken } = await watched();
  await look('a/coder');
  for (let i = 0; i < 50; i++) await send('a/lead', { to: 'coder', content: `${i}` });
  await vi.advanceTimersByTimeAsync(500);
  expect([woken, (await look('a/coder'))?.mailbox.unacked]).toEqual([[], 0]);
  await vi.advanceTimersByTimeAsync(500);
  await until(() => expect(woken).toEqual(['a-coder']));
  expect(await look('a/coder')).toMatchObject({ isFull: false, mailbox: { unacked: 50, nextSeq: 51 } });
  for (let i = 0; i < 50; i++) await send('a/lead', { to: 'coder', content: `${i}` });
  await vi.advanceTimersByTimeAsync(1_000);
  await until(() => expect(woken).toEqual(['a-coder', 'a-coder']));
  expect(await look('a/coder')).toMatchObject({ isFull: true, mailbox: { unacked: 100 } });
});

it('shows what an agent says it does, cut to a glance, and when it was last heard of', async () => {
  const { send, look, woken, desk, ownerOf } = await watched();
  await look('a/coder');
  await vi.advanceTimersByTimeAsync(1_000);
  await send('a/coder', { to: 'lead', type: 'status_update', content: `🦀${'x'.repeat(5_000)}` });
  await vi.advanceTimersByTimeAsync(0);
  await until(() => expect(woken).toContain('a-coder'));
  const view = await look('a/coder');
  expect(view?.progress).toEqual({ text: `🦀${'x'.repeat(498)}…`, time: '2026-01-02T03:04:05.000Z' });
  expect(view?.lastActivity).toBe('2026-01-02T03:04:05.000Z');
  woken.length = 0;
  await desk({ book: { openRequests: () => [] } }).openRequests(ownerOf('a/coder'), {}, { signal: AbortSignal.timeout(1_000) });
  await vi.advanceTimersByTimeAsync(50_000);
  expect(woken).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  await until(() => expect(woken).toEqual(['a-coder']));
});

it('wakes nobody for a mailbox of people, of somebody who is gone, or after it was forgotten', async () => {
  const { send, woken, relay, ownerOf, look } = await watched();
  await look('a/coder');
  await send('a/coder', { to: 'orchestrator' });
  await send('a/lead', { to: 'coder' });
  relay.activity.forget(ownerOf('a/coder'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(woken).toEqual([]);
});

it('brings back no mailbox of an agent that is being deleted', async () => {
  const { send, agent, client, mail, ownerOf, woken, look } = await watched();
  await send('a/lead', { to: 'coder' });
  await look('a/coder');
  const owner = ownerOf('a/coder');
  await client.update({ ...agent('a/coder'), metadata: { ...agent('a/coder').metadata, finalizers: ['x/y'] } });
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-coder' });
  woken.length = 0;
  await mail.remove(owner);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([woken.filter((name) => name === 'a-coder'), (await mail.owners()).includes(owner)]).toEqual([[], false]);
});

it('says nothing of a mailbox that cannot be read', async () => {
  const { look, mail } = await watched();
  await mail.close();
  expect(await look('a/tester')).toBeUndefined();
});
