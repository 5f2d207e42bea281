import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Envelope } from '#protocol/relay.ts';
import { waitForMail } from './mail-wait.ts';

const message = { message_id: 'm1' } as Envelope;

/** An inbox that counts who listens, and may keep its events to itself. */
class CountedInbox {
  readonly listeners = new Set<() => void>();
  messages: Envelope[] = [];

  unseen(): Envelope[] {
    return this.messages;
  }

  onMail(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

let inbox: CountedInbox;
let client: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  inbox = new CountedInbox();
  client = new AbortController();
});

afterEach(() => {
  expect(inbox.listeners.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const wait = () => waitForMail(inbox, ({ message_id }) => message_id === 'm1', { timeoutMs: 10_000, signal: client.signal });

it('wakes by the event at once', async () => {
  const waiting = wait();
  inbox.messages = [message];
  for (const listener of inbox.listeners) listener();
  expect(await waiting).toBe(message);
});

it('finds what no event told of within half a second', async () => {
  const waiting = wait();
  inbox.messages = [message];
  await vi.advanceTimersByTimeAsync(500);
  expect(await waiting).toBe(message);
});

it('ends when the time is over', async () => {
  const waiting = wait();
  await vi.advanceTimersByTimeAsync(9_999);
  expect(inbox.listeners.size).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBeUndefined();
});

it('ends when nobody waits any more, also before it has begun', async () => {
  const waiting = wait();
  client.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(wait()).rejects.toThrow('gone');
});

it('begins nothing for what is there already', async () => {
  inbox.messages = [message];
  expect(await wait()).toBe(message);
});
