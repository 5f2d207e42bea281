import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';

let bundle: GuestBundle;
let guest: RunningGuest;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

describe('logs', () => {
  it('shows what the guest has to say of itself', async () => {
    const { down, result } = guest.client.open('logs', { follow: false, timestamps: true });
    expect(await text(down.lines)).toMatch(/^\S+Z \[guest\] started as guest-under-test incarnation incarnation-1\n/);
    expect(await result).toEqual({});
  });

  it('is followed until the caller has enough', async () => {
    const controller = new AbortController();
    const { down, result } = guest.client.open('logs', { follow: true, timestamps: false }, { signal: controller.signal });
    let seen = '';
    down.lines.on('data', (chunk) => {
      seen += String(chunk);
    });
    await vi.waitFor(() => expect(seen).toContain('[guest] started'));
    controller.abort(new Error('enough'));
    await expect(result).rejects.toThrowError('enough');
    await guest.client.call('ping', {});
  });

  it('ends for those who follow when the guest ends', async () => {
    const other = await startGuestProcess(bundle.path);
    const { down, result } = other.client.open('logs', { follow: true, timestamps: false });
    result.catch(() => {});
    let seen = '';
    down.lines.on('data', (chunk) => {
      seen += String(chunk);
    });
    await vi.waitFor(() => expect(seen).toContain('started'));
    await other.client.call('shutdown', {});
    await other.client.closed;
    expect(seen).toContain('[guest] stopping: shutdown asked by the host\n');
    await other.stop();
  });
});
