import fc from 'fast-check';
import { expect, it } from 'vitest';
import { filled, fullBucket, isFull, waitMs, without } from './token-bucket.ts';

const rate = { burst: 3, perMinute: 7 };

it('says to the millisecond when there is a token again', () => {
  const empty = without(fullBucket(rate, 0), 3);
  expect(waitMs(empty, rate)).toBe(8_572);
  expect(waitMs(filled(empty, rate, 8_571), rate)).toBe(1);
  expect(waitMs(filled(empty, rate, 8_572), rate)).toBe(0);
});

it('is never more than full, and not changed by a clock that goes back', () => {
  const used = without(fullBucket(rate, 1_000), 1);
  expect(filled(used, rate, 0)).toEqual(used);
  const later = filled(used, rate, 10_000_000);
  expect([isFull(used, rate), isFull(later, rate), later.parts]).toEqual([false, true, fullBucket(rate, 0).parts]);
});

it('takes longer to pay back what was taken beyond its end', () => {
  const indebted = without(fullBucket(rate, 0), 10);
  expect(waitMs(indebted, rate)).toBe(Math.ceil((8 * 60_000) / 7));
});

it('gives no more than the burst and what was added since, whenever it is asked', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 600 }), (gaps, burst, perMinute) => {
      const any = { burst, perMinute };
      let bucket = fullBucket(any, 0);
      let given = 0;
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        bucket = filled(bucket, any, now);
        const wait = waitMs(bucket, any);
        if (wait === 0) {
          bucket = without(bucket, 1);
          given += 1;
        } else {
          expect(waitMs(filled(bucket, any, now + wait - 1), any)).toBeGreaterThan(0);
          expect(waitMs(filled(bucket, any, now + wait), any)).toBe(0);
        }
        expect(given).toBeLessThanOrEqual(burst + (now * perMinute) / 60_000);
      }
    }),
  );
});
