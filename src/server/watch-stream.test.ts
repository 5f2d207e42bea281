import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Draft, KindObject } from '#api/meta.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import type { ListOptions } from './list-options.ts';
import { storedSource } from './source.ts';
import { type Sink, type WatchEncoder, WatchStream } from './watch-stream.ts';

/** A client that reads only when it is told to. */
class SlowReader extends EventEmitter implements Sink {
  lines: string[] = [];
  waiting: string[] = [];
  ended = false;
  destroyed = false;
  isReading = true;

  get writableLength(): number {
    return this.waiting.reduce((sum, line) => sum + line.length, 0);
  }

  write(chunk: string | Buffer): boolean {
    (this.isReading ? this.lines : this.waiting).push(String(chunk));
    return this.isReading;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  /** Takes everything that waits. */
  readAll(): void {
    this.lines.push(...this.waiting.splice(0));
    this.emit('drain');
  }
}

const encoder: WatchEncoder = {
  event: (type, { metadata, spec }) => `${type} ${metadata.name} ${typeof spec === 'string' ? spec.length : (spec ?? '')}`,
  bookmark: (version, isInitialEnd) => `BOOKMARK ${version}${isInitialEnd ? ' end' : ''}`,
  error: ({ code }) => `ERROR ${code}`,
};

const draft = (name: string, spec: unknown = ''): Draft => ({ apiVersion: 'v1', kind: 'Box', metadata: { name, namespace: 'a' }, spec });

let store: Store;
let reader: SlowReader;

function watch(options: Partial<ListOptions> = {}, isVisible?: (object: KindObject) => boolean): WatchStream {
  const stream = new WatchStream({
    source: storedSource(store, 'Box'),
    sink: reader,
    encoder,
    options: { limit: 0, allowWatchBookmarks: false, ...options },
    timeoutMs: 60_000,
    ...(isVisible ? { isVisible } : {}),
  });
  stream.start();
  return stream;
}

beforeEach(() => {
  store = memoryStore({ kinds: ['Box'], historyLimit: 50 });
  reader = new SlowReader();
});

describe('WatchStream', () => {
  it('sends what is there and then what happens', async () => {
    await store.create(draft('one'));
    watch();
    await store.create(draft('two'));
    await store.delete({ kind: 'Box', namespace: 'a', name: 'one' });
    expect(reader.lines).toEqual(['ADDED one 0', 'ADDED two 0', 'DELETED one 0']);
  });

  it('resumes after a version without repeating it', async () => {
    const { metadata } = await store.create(draft('one'));
    await store.create(draft('two'));
    watch({ resourceVersion: metadata.resourceVersion });
    expect(reader.lines).toEqual(['ADDED two 0']);
  });

  it('marks the end of the initial events with the version of that list', async () => {
    await store.create(draft('one'));
    const version = store.resourceVersion;
    watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true });
    await store.create(draft('two'));
    expect(reader.lines).toEqual(['ADDED one 0', `BOOKMARK ${version} end`, 'ADDED two 0']);
  });

  it('marks the end also when there is nothing at the start', () => {
    watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true });
    expect(reader.lines).toEqual(['BOOKMARK 0 end']);
  });

  it('sends nothing of the past when asked so', async () => {
    await store.create(draft('one'));
    watch({ sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' });
    await store.create(draft('two'));
    expect(reader.lines).toEqual(['ADDED two 0']);
  });

  it('says that a version is too old and ends', async () => {
    for (let i = 0; i < 60; i++) await store.create(draft(`box-${i}`));
    watch({ resourceVersion: '3' });
    expect(reader.lines).toEqual(['ERROR 410']);
    expect(reader.ended).toBe(true);
    expect(store.watcherCount).toBe(0);
  });

  it('hides what the client may not see', async () => {
    watch({}, ({ metadata }) => metadata.name !== 'secret');
    await store.create(draft('secret'));
    await store.create(draft('open'));
    expect(reader.lines).toEqual(['ADDED open 0']);
  });

  it('ends when told to, with a bookmark for those who want one', async () => {
    const stream = watch({ allowWatchBookmarks: true });
    await store.create(draft('one'));
    stream.end();
    await store.create(draft('two'));
    expect(reader.lines).toEqual(['ADDED one 0', 'BOOKMARK 1']);
    expect(reader.ended).toBe(true);
    expect(store.watcherCount).toBe(0);
  });

  it('lets go of the store when the client goes away', () => {
    watch();
    reader.emit('close');
    expect(store.watcherCount).toBe(0);
  });
});

describe('a client that does not keep up', () => {
  const big: WatchEncoder = { ...encoder, event: (type, { metadata }) => `${type} ${metadata.name} `.padEnd(300_000, '.') };
  const names = () => reader.lines.map((line) => line.slice(0, 40).replace(/[ .]+$/, ''));

  function watchBig(): void {
    const stream = new WatchStream({
      source: storedSource(store, 'Box'),
      sink: reader,
      encoder: big,
      options: { limit: 0, allowWatchBookmarks: false },
      timeoutMs: 60_000,
    });
    stream.start();
  }

  it('costs a bounded amount of memory and gets every event once it reads', async () => {
    watchBig();
    reader.isReading = false;
    for (let i = 0; i < 20; i++) await store.create(draft(`box-${String(i).padStart(2, '0')}`));
    expect(reader.writableLength).toBeLessThan(2_000_000);
    expect(store.watcherCount).toBe(0);
    while (reader.waiting.length > 0) reader.readAll();
    expect(names()).toEqual(Array.from({ length: 20 }, (_, i) => `ADDED box-${String(i).padStart(2, '0')}`));
    reader.isReading = true;
    await store.create(draft('last'));
    expect(names().at(-1)).toBe('ADDED last');
  });

  it('gets the initial list in pieces, and nothing twice or never', async () => {
    for (let i = 0; i < 20; i++) await store.create(draft(`box-${String(i).padStart(2, '0')}`));
    reader.isReading = false;
    watchBig();
    expect(reader.waiting.length).toBeLessThan(20);
    await store.create(draft('late'));
    while (reader.waiting.length > 0) reader.readAll();
    expect(names()).toEqual([...Array.from({ length: 20 }, (_, i) => `ADDED box-${String(i).padStart(2, '0')}`), 'ADDED late']);
  });

  it('is told to start again when the history has moved on', async () => {
    watchBig();
    reader.isReading = false;
    for (let i = 0; i < 80; i++) await store.create(draft(`box-${i}`));
    while (reader.waiting.length > 0) reader.readAll();
    expect(reader.lines.at(-1)).toBe('ERROR 410');
    expect(reader.ended).toBe(true);
  });
});
