import { expect, it } from 'vitest';
import { Refusal } from './client.ts';
import { patient } from './patience.ts';

const limited = (retryAfterMs: number) => new Refusal('RateLimited: too fast', { code: 'RateLimited', retryAfterMs });

/** Refuses as often as there are errors, then answers. `lateMs`: what every pause takes longer than it should. */
function asking(errors: Error[], lateMs = 0) {
  const pauses: number[] = [];
  const asked: unknown[][] = [];
  let now = 0;
  const ask = patient(
    async (...question) => {
      asked.push(question);
      const error = errors.shift();
      if (error) throw error;
      return 'answer';
    },
    {
      nowMs: () => now,
      pause: async (ms) => {
        pauses.push(ms);
        now += ms + lateMs;
      },
    },
  );
  return { ask, asked, pauses };
}

it('asks the same again after the time that it was told', async () => {
  const { ask, asked, pauses } = asking([limited(200), limited(1)]);
  expect(await ask('verb', { a: 1 })).toBe('answer');
  expect(pauses).toEqual([200, 20]);
  expect(asked).toEqual(Array(3).fill(['verb', { a: 1 }]));
});

it.each([
  ['another refusal', new Refusal('InboxFull: full', { code: 'InboxFull', retryAfterMs: 1_000 })],
  ['a limit without an end', new Refusal('RateLimited: too fast', { code: 'RateLimited' })],
  ['a failure', new Error('broken')],
])('does not wait after %s', async (_, error) => {
  const { ask, pauses } = asking([error]);
  await expect(ask('verb')).rejects.toBe(error);
  expect(pauses).toEqual([]);
});

it('waits thirty seconds altogether, in all that one command asks, and says so', async () => {
  const { ask, pauses } = asking([limited(12_000), limited(12_000), limited(12_000)]);
  expect(await ask('verb').catch((error: Error) => error.message)).toBe('RateLimited: too fast; waited 24 s of at most 30 s');
  expect(pauses).toEqual([12_000, 12_000]);
});

it('counts the time that passed, and not only what it asked for', async () => {
  const { ask, pauses } = asking(Array(5).fill(limited(200)), 20_000);
  await expect(ask('verb')).rejects.toThrow('waited 40 s');
  expect(pauses).toEqual([200, 200]);
});

it('does not begin to wait for what takes longer', async () => {
  const { ask, pauses } = asking([limited(48_000)]);
  await expect(ask('verb')).rejects.toThrow('RateLimited: too fast; waited 0 s of at most 30 s');
  expect(pauses).toEqual([]);
});
