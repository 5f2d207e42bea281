/** A token bucket as a value: full at first, filled at an even rate, and empty for a while after it was used faster than that. Pure. */

export interface BucketRate {
  /** How many calls may come at once. */
  readonly burst: number;
  readonly perMinute: number;
}

/**
 * The level is counted in parts of a token, as many as a minute has milliseconds: each millisecond adds `perMinute` of them, without any
 * rounding. It may be below zero.
 */
export interface TokenBucket {
  readonly parts: number;
  readonly atMs: number;
}

const PARTS_PER_TOKEN = 60_000;

export function fullBucket({ burst }: BucketRate, nowMs: number): TokenBucket {
  return { parts: burst * PARTS_PER_TOKEN, atMs: nowMs };
}

/** The same bucket at this time. A clock that goes back changes nothing. */
export function filled({ parts, atMs }: TokenBucket, { burst, perMinute }: BucketRate, nowMs: number): TokenBucket {
  if (nowMs <= atMs) return { parts, atMs };
  return { parts: Math.min(burst * PARTS_PER_TOKEN, parts + (nowMs - atMs) * perMinute), atMs: nowMs };
}

export function without({ parts, atMs }: TokenBucket, count: number): TokenBucket {
  return { parts: parts - count * PARTS_PER_TOKEN, atMs };
}

/** How long until there is a whole token; 0 when there is one. */
export function waitMs({ parts }: TokenBucket, { perMinute }: BucketRate): number {
  return parts >= PARTS_PER_TOKEN ? 0 : Math.ceil((PARTS_PER_TOKEN - parts) / perMinute);
}

export function isFull({ parts }: TokenBucket, { burst }: BucketRate): boolean {
  return parts >= burst * PARTS_PER_TOKEN;
}
