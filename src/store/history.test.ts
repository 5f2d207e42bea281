import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { History, type StoreEvent } from './history.ts';

const ALL = { labels: [], fields: [] };

function box(name: string, version: number): KindObject {
  const metadata = { name, namespace: 'default', uid: name, resourceVersion: String(version), generation: 1, creationTimestamp: '' };
  return { apiVersion: 'test/v1', kind: 'Box', metadata };
}

function added(version: number) {
  return { resourceVersion: version, object: box(`b${version}`, version), before: undefined, deleted: false, size: 100 };
}

function collector() {
  const seen: number[] = [];
  return { seen, watcher: { kind: 'Box', query: ALL, onEvent: ({ resourceVersion }: StoreEvent) => void seen.push(resourceVersion) } };
}

describe('History', () => {
  it('keeps the last changes and says which version is too old, and what to do', () => {
    const history = new History({ changes: 3 }, 10);
    for (let version = 11; version <= 20; version++) history.publish(added(version));
    const { seen, watcher } = collector();
    history.subscribe(watcher, 17, 20);
    expect(seen).toEqual([18, 19, 20]);
    expect(() => history.subscribe(watcher, 16, 20)).toThrow(
      expect.objectContaining({
        code: 'Expired',
        message: 'too old resource version: 16 (17)',
        hint: expect.stringContaining('list again'),
      }),
    );
  });

  it('does not know what happened before it began', () => {
    const { watcher } = collector();
    expect(() => new History({ changes: 3 }, 10).subscribe(watcher, 9, 10)).toThrow('too old resource version: 9 (10)');
  });

  it('refuses a version that was never given out, from which a watcher would miss changes', () => {
    const { watcher } = collector();
    expect(() => new History({ changes: 3 }, 10).subscribe(watcher, 11, 10)).toThrow('too large resource version: 11 (10)');
  });

  it('tells a watcher that comes while others are being told of a change of that change once', () => {
    const history = new History({ changes: 3 }, 0);
    const late = collector();
    history.subscribe({ ...late.watcher, onEvent: () => history.subscribe(late.watcher, late.seen.length === 0 ? 0 : 1, 1) }, 0, 0);
    history.publish(added(1));
    expect(late.seen).toEqual([1]);
  });

  it('tells a watcher that left nothing more, also when it leaves while being told', () => {
    const history = new History({ changes: 3 }, 0);
    const { seen, watcher } = collector();
    const onEvent = (event: StoreEvent) => {
      watcher.onEvent(event);
      stop();
    };
    const stop = history.subscribe({ ...watcher, onEvent }, 0, 0);
    history.publish(added(1));
    history.publish(added(2));
    expect(seen).toEqual([1]);
    expect(history.watcherCount).toBe(0);
  });

  it('forgets the oldest when all together have become too large', () => {
    const history = new History({ changes: 10, size: 350 }, 0);
    for (let version = 1; version <= 5; version++) history.publish(added(version));
    expect(() => history.subscribe(collector().watcher, 1, 5)).toThrow('too old resource version: 1 (2)');
    expect(history.undo('Box', 2, 5).size).toBe(3);
  });

  it('goes on for ever, remembering the last ones', () => {
    const history = new History({ changes: 3 }, 0);
    for (let version = 1; version <= 5_000; version++) history.publish(added(version));
    expect([...history.undo('Box', 4_997, 5_000).keys()]).toHaveLength(3);
    expect(() => history.undo('Box', 4_996, 5_000)).toThrow('too old');
  });
});
