import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Client } from '#client/client.ts';
import { UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { boxFixture } from './box.fixture.ts';
import { createLeaderLock } from './leader.ts';
import type { Leadership } from './leadership.ts';
import type { Lease } from './lease.ts';
import { interceptClient } from './testing.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

const KEY = { kind: 'Lease', namespace: 'default', name: 'agentiso' };

function candidate(client: Client, identity: string) {
  const stop = new AbortController();
  const state: { leadership?: Leadership; leading: boolean } = { leading: false };
  const lock = createLeaderLock({
    client,
    log: silentLogger,
    identity,
    name: KEY.name,
    namespace: KEY.namespace,
    leaseDurationSeconds: 15,
  });
  const acquired = lock.acquire(stop.signal).then((leadership) => {
    if (!leadership) return;
    state.leadership = leadership;
    state.leading = true;
    leadership.lost.addEventListener('abort', () => {
      state.leading = false;
    });
  });
  return { state, stop, acquired };
}

async function spec(client: Client) {
  return (await client.get<Lease>(KEY)).spec;
}

it('takes a lease that nobody has, and renews it', async () => {
  const { client } = boxFixture();
  const a = candidate(client, 'a');
  await a.acquired;
  const time = '2026-01-01T00:00:00.000000Z';
  expect(await spec(client)).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await spec(client)).toMatchObject({ acquireTime: time, renewTime: '2026-01-01T00:01:00.000000Z' });
  expect(a.state.leading).toBe(true);
  await a.state.leadership?.release();
});

it('hands over at once when it is released', async () => {
  const { client } = boxFixture();
  const a = candidate(client, 'a');
  await a.acquired;
  const b = candidate(client, 'b');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(b.state.leading).toBe(false);
  await a.state.leadership?.release();
  await vi.advanceTimersByTimeAsync(0);
  expect(b.state.leading).toBe(true);
  expect(await spec(client)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  await b.state.leadership?.release();
});

it('passes to another one only when the holder has stopped leading', async () => {
  const { client } = boxFixture();
  let cut = false;
  const flaky = interceptClient(client, () => {
    if (cut) throw new UnavailableError('no network');
  });
  const a = candidate(flaky, 'a');
  await a.acquired;
  const b = candidate(client, 'b');
  await vi.advanceTimersByTimeAsync(7_000);
  cut = true;
  const seen: string[] = [];
  for (let second = 0; second < 40; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    const leaders = `${a.state.leading ? 'a' : ''}${b.state.leading ? 'b' : ''}`;
    if (seen.at(-1) !== leaders) seen.push(leaders);
  }
  expect(seen).toEqual(['a', '', 'b']);
  await a.state.leadership?.release();
  expect(await spec(client)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  await b.state.leadership?.release();
});

it('stops leading in time when a renewal hangs', async () => {
  const { client } = boxFixture();
  let hang = false;
  const hanging = interceptClient(client, (verb) => (hang && verb === 'update' ? new Promise<void>(() => {}) : undefined));
  const a = candidate(hanging, 'a');
  await a.acquired;
  hang = true;
  await vi.advanceTimersByTimeAsync(9_999);
  expect(a.state.leading).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(a.state.leading).toBe(false);
});

it('does not trust the times of another machine, only its own clock', async () => {
  const { client } = boxFixture();
  const old = '1999-01-01T00:00:00.000000Z';
  await client.create<Lease>({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: KEY.name, namespace: KEY.namespace },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, acquireTime: old, renewTime: old, leaseTransitions: 4 },
  });
  const a = candidate(client, 'a');
  await vi.advanceTimersByTimeAsync(14_900);
  expect(a.state.leading).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(a.state.leading).toBe(true);
  expect(await spec(client)).toMatchObject({ holderIdentity: 'a', leaseTransitions: 5 });
  await a.state.leadership?.release();
});

it('loses when somebody else has written himself into the lease, not when a label changed', async () => {
  const { client } = boxFixture();
  const a = candidate(client, 'a');
  await a.acquired;
  const lease = await client.get<Lease>(KEY);
  const labelled = await client.update({ ...lease, metadata: { ...lease.metadata, labels: { x: 'y' } } });
  await vi.advanceTimersByTimeAsync(6_500);
  expect(a.state.leading).toBe(true);
  const current = await client.get<Lease>(KEY);
  expect(current.metadata.resourceVersion).not.toBe(labelled.metadata.resourceVersion);
  await client.update({ ...current, spec: { ...current.spec, holderIdentity: 'x' } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(a.state.leading).toBe(false);
});

it('lets exactly one of ten win, again and again', async () => {
  const { client } = boxFixture();
  let candidates = Array.from({ length: 10 }, (_, index) => candidate(client, `c${index}`));
  while (candidates.length > 0) {
    await vi.advanceTimersByTimeAsync(20_000);
    const leaders = candidates.filter(({ state }) => state.leading);
    expect(leaders).toHaveLength(1);
    candidates = candidates.filter((one) => !leaders.includes(one));
    await leaders[0]?.state.leadership?.release();
  }
});

it('gives up waiting when it is told to stop', async () => {
  const { client } = boxFixture();
  const a = candidate(client, 'a');
  await a.acquired;
  const b = candidate(client, 'b');
  await vi.advanceTimersByTimeAsync(0);
  b.stop.abort();
  await b.acquired;
  expect(b.state.leadership).toBeUndefined();
  await a.state.leadership?.release();
  expect(vi.getTimerCount()).toBe(0);
});
