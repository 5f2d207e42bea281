/** Time and identity as values that a test can replace. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** RFC 3339 in UTC, whole seconds: what Kubernetes writes into object metadata. */
export function toSeconds(date: Date): string {
  const second = Math.floor(date.getTime() / 1_000);
  if (second !== last.second) last = { second, text: `${date.toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** Thousands of writes a second have the same time. */
let last = { second: Number.NaN, text: '' };

/** RFC 3339 in UTC, with milliseconds: what a message has. */
export function toTimestamp(date: Date): string {
  const ms = date.getTime();
  if (ms !== lastStamp.ms) lastStamp = { ms, text: date.toISOString() };
  return lastStamp.text;
}

let lastStamp = { ms: Number.NaN, text: '' };

export const newUid = (): string => randomUUID();

/** No vowels and no look-alikes, as Kubernetes' generateName: a suffix can be neither a word nor misread. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function randomSuffix(length: number): string {
  let suffix = '';
  for (const byte of randomBytes(length)) suffix += SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length];
  return suffix;
}
