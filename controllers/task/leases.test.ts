import { expect, it } from 'vitest';
import { AwakeTime } from '#lib/awake-time.ts';
import { LEASE_MS, Leases } from './leases.ts';

function leaseByTime() {
  let nowMs = 0;
  const time = new AwakeTime(() => nowMs);
  const leases = new Leases();
  return {
    leftMs: () => leases.leftMs('attempt', { nowMs: time.look(), seenMs: undefined }),
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it('a lease runs out while its holder is silent and somebody listens', () => {
  const lease = leaseByTime();
  expect(lease.leftMs()).toBe(LEASE_MS);
  for (let second = 0; second < 30; second += 1) {
    lease.pass(1_000);
    lease.leftMs();
  }
  expect(lease.leftMs()).toBe(0);
});

it('a lease does not run out while this process itself stands still', () => {
  const lease = leaseByTime();
  lease.leftMs();
  lease.pass(600_000);
  expect(lease.leftMs()).toBeGreaterThan(LEASE_MS / 2);
});
