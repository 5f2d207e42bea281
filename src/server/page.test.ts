import { beforeEach, describe, expect, it } from 'vitest';
import type { Draft } from '#api/meta.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import type { ListOptions } from './list-options.ts';
import { pageOf } from './page.ts';
import { storedSource } from './source.ts';
import { StatusError } from './status.ts';

const draft = (name: string, namespace = 'a'): Draft => ({
  apiVersion: 'v1',
  kind: 'Box',
  metadata: { name, namespace, labels: { name } },
});

let store: Store;
const page = (options: Partial<ListOptions> = {}, isVisible?: Parameters<typeof pageOf>[2]) =>
  pageOf(storedSource(store, 'Box'), { limit: 0, allowWatchBookmarks: false, ...options }, isVisible);
const names = ({ items }: ReturnType<typeof page>) => items.map(({ metadata }) => metadata.name);

function refusal(work: () => unknown): StatusError['status'] {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error('was not refused');
}

beforeEach(async () => {
  store = memoryStore({ kinds: ['Box'], historyLimit: 20 });
  for (const name of ['d', 'b', 'a', 'c']) await store.create(draft(name));
  await store.create(draft('a', 'b'));
});

describe('pageOf', () => {
  it('gives everything at once without a limit', () => {
    expect(names(page())).toEqual(['a', 'b', 'c', 'd', 'a']);
    expect(page()).not.toHaveProperty('continue');
  });

  it('shows every page of a list as it was when the list began', async () => {
    const first = page({ limit: 2 });
    expect([names(first), first.remainingItemCount]).toEqual([['a', 'b'], 3]);
    await store.delete({ kind: 'Box', namespace: 'a', name: 'c' });
    await store.create(draft('cc'));
    const second = page({ limit: 2, continue: first.continue as string });
    expect([names(second), second.resourceVersion, second.remainingItemCount]).toEqual([['c', 'd'], first.resourceVersion, 1]);
    const third = page({ limit: 2, continue: second.continue as string });
    expect([names(third), third.continue]).toEqual([['a'], undefined]);
    expect(names(page())).toEqual(['a', 'b', 'cc', 'd', 'a']);
  });

  it('does not count what a selector may leave out', () => {
    expect(page({ limit: 1, labelSelector: 'name!=a' })).not.toHaveProperty('remainingItemCount');
    expect(page({ limit: 1 }, () => true)).not.toHaveProperty('remainingItemCount');
  });

  it('offers to go on with what there is now once the history is gone', async () => {
    const first = page({ limit: 2 });
    for (let i = 0; i < 25; i++) await store.create(draft(`x${i}`));
    await store.delete({ kind: 'Box', namespace: 'a', name: 'c' });
    const { code, reason, metadata } = refusal(() => page({ limit: 2, continue: first.continue as string }));
    expect([code, reason]).toEqual([410, 'Expired']);
    const rest = page({ limit: 2, continue: metadata['continue'] as string });
    expect([names(rest), rest.resourceVersion]).toEqual([['d', 'x0'], store.resourceVersion]);
  });

  it('shows an exact version, and refuses one that is gone or not there yet', async () => {
    const version = store.resourceVersion;
    await store.create(draft('e'));
    expect(names(page({ resourceVersion: String(version), resourceVersionMatch: 'Exact' }))).toEqual(['a', 'b', 'c', 'd', 'a']);
    expect(refusal(() => page({ resourceVersion: '99' }))).toMatchObject({ code: 504, details: { retryAfterSeconds: 1 } });
    for (let i = 0; i < 25; i++) await store.create(draft(`x${i}`));
    expect(refusal(() => page({ resourceVersion: String(version), resourceVersionMatch: 'Exact' })).code).toBe(410);
  });

  it.each([['nonsense'], [''.padEnd(10, 'A')], [Buffer.from('{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}').toString('base64url')]])(
    'refuses the token %s',
    (token) => {
      expect(refusal(() => page({ continue: token }))).toMatchObject({ code: 400, reason: 'BadRequest' });
    },
  );
});
