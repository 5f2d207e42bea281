/** Rate limits in memory. A bucket that is full again says nothing and is dropped, so there are as many as there are busy callers. */
import { AgentisoError } from '#lib/errors.ts';
import { filled, fullBucket, isFull, type TokenBucket, waitMs, without } from '#lib/token-bucket.ts';
import { TOOL_CATEGORIES, type ToolCategory } from '#protocol/tool-surface.ts';
import { type Rate, type RateLimits, type Rates, USUAL_RATES } from './rates.ts';

/** How often full buckets are looked for, while calls come. */
const SWEEP_MS = 60_000;

export interface RatesOptions {
  readonly rates?: Rates;
  /** Of a clock that never goes back. */
  readonly nowMs?: () => number;
}

export interface CountedRateLimits extends RateLimits {
  readonly bucketCount: number;
}

export function createRates({ rates = USUAL_RATES, nowMs = () => performance.now() }: RatesOptions = {}): CountedRateLimits {
  const buckets = new Map<string, TokenBucket>();
  let sweptMs = nowMs();
  const rateOf = (id: string): Rate => rates[id.slice(0, id.indexOf('/')) as ToolCategory];
  const sweep = (now: number) => {
    if (now - sweptMs < SWEEP_MS) return;
    sweptMs = now;
    for (const [id, bucket] of buckets) if (isFull(filled(bucket, rateOf(id), now), rateOf(id))) buckets.delete(id);
  };
  const present = (id: string): TokenBucket => {
    const now = nowMs();
    sweep(now);
    const known = buckets.get(id);
    return known ? filled(known, rateOf(id), now) : fullBucket(rateOf(id), now);
  };
  return {
    charge(principal, category) {
      const id = bucketId(principal, category);
      const bucket = present(id);
      const retryAfterMs = waitMs(bucket, rates[category]);
      if (retryAfterMs > 0) throw rateLimited(category, rates[category], retryAfterMs);
      buckets.set(id, without(bucket, 1));
    },
    chargeBeyond(principal, category, count) {
      if (count <= 0) return;
      const id = bucketId(principal, category);
      buckets.set(id, without(present(id), count));
    },
    forget(principal) {
      for (const category of TOOL_CATEGORIES) buckets.delete(bucketId(principal, category));
    },
    get bucketCount() {
      return buckets.size;
    },
  };
}

function bucketId(principal: string, category: ToolCategory): string {
  return `${category}/${principal}`;
}

function rateLimited(category: ToolCategory, { perMinute }: Rate, retryAfterMs: number): AgentisoError {
  const message = `Rate limit exceeded for ${category} operations. Maximum ${perMinute} calls per minute. Please wait and retry.`;
  return new AgentisoError('RateLimited', message, { hint: `wait ${retryAfterMs} ms and call again`, retryAfterMs });
}
