/** The store against a plain Map that follows the same rules: same answers, same errors, same events, in the same order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { AgentisoError } from '#lib/errors.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import type { StoreEvent } from './history.ts';
import type { DeleteRequest } from './rules.ts';
import type { Store } from './store.ts';

const HISTORY = 6;
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

interface Entry {
  readonly version: number;
  readonly generation: number;
  readonly spec: number;
  readonly status: number | undefined;
  readonly team: string;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

interface ModelEvent {
  readonly version: number;
  readonly name: string;
  readonly before: Entry | undefined;
  /** The last state for a deletion. */
  readonly after: Entry;
  readonly isEnd: boolean;
}

type Step =
  | { readonly do: 'create'; readonly name: string; readonly spec: number; readonly team: string; readonly finalizers: readonly string[] }
  | {
      readonly do: 'update';
      readonly name: string;
      readonly isStale: boolean;
      readonly change: { readonly spec?: number; readonly team?: string; readonly finalizers?: readonly string[] };
    }
  | { readonly do: 'updateStatus'; readonly name: string; readonly isStale: boolean; readonly status: number }
  | {
      readonly do: 'delete';
      readonly name: string;
      readonly precondition: 'none' | 'current' | 'stale';
      readonly policy: DeleteRequest['propagationPolicy'];
    };

class Model {
  readonly entries = new Map<string, Entry>();
  readonly events: ModelEvent[] = [];
  version = 0;

  /** The error code, or undefined when the step is fine. */
  take(step: Step): string | undefined {
    const before = this.entries.get(step.name);
    if (step.do === 'create') {
      if (before) return 'AlreadyExists';
      const { spec, team, finalizers } = step;
      this.#put(step.name, { version: 0, generation: 1, spec, status: undefined, team, finalizers, isDeleting: false });
      return undefined;
    }
    if (!before) return 'NotFound';
    if (step.do === 'delete') return this.#delete(step, before);
    if (step.isStale) return 'Conflict';
    if (step.do === 'updateStatus') {
      if (before.status !== step.status) this.#put(step.name, { ...before, status: step.status });
      return undefined;
    }
    return this.#update(step, before);
  }

  #update({ name, change }: Step & { do: 'update' }, before: Entry): string | undefined {
    const after: Entry = { ...before, ...change };
    if (before.isDeleting && after.finalizers.some((finalizer) => !before.finalizers.includes(finalizer))) return 'Invalid';
    const generation = before.generation + (after.spec === before.spec ? 0 : 1);
    if (before.isDeleting && after.finalizers.length === 0) this.#end(name, { ...after, generation });
    else if (!isEqual(before, after)) this.#put(name, { ...after, generation });
    return undefined;
  }

  #delete({ name, precondition, policy }: Step & { do: 'delete' }, before: Entry): string | undefined {
    if (precondition === 'stale') return 'Conflict';
    const finalizers = withPolicy(before.finalizers, policy);
    if (finalizers.length === 0) this.#end(name, before);
    else if (!before.isDeleting) this.#put(name, { ...before, finalizers, isDeleting: true, generation: before.generation + 1 });
    else if (!isEqual(before, { ...before, finalizers })) this.#put(name, { ...before, finalizers });
    return undefined;
  }

  #put(name: string, entry: Entry): void {
    const after = { ...entry, version: ++this.version };
    this.events.push({ version: this.version, name, before: this.entries.get(name), after, isEnd: false });
    this.entries.set(name, after);
  }

  #end(name: string, entry: Entry): void {
    const after = { ...entry, version: ++this.version };
    this.events.push({ version: this.version, name, before: this.entries.get(name), after, isEnd: true });
    this.entries.delete(name);
  }

  /** What a watcher of one team, or of all, is told. */
  seen(team: string | undefined, since = 0): string[] {
    return this.events.flatMap(({ version, name, before, after, isEnd }) => {
      const was = before !== undefined && (team === undefined || before.team === team);
      const is = !isEnd && (team === undefined || after.team === team);
      if (version <= since || (!was && !is)) return [];
      return [`${version} ${is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED'} ${name} ${JSON.stringify(is ? after : { ...before, version })}`];
    });
  }
}

/** A delete that names no policy keeps what an earlier one asked for; one that does replaces it. */
function withPolicy(finalizers: readonly string[], policy: DeleteRequest['propagationPolicy']): readonly string[] {
  if (policy === undefined) return finalizers;
  const wanted = policy === 'Foreground' ? [FOREGROUND] : policy === 'Orphan' ? [ORPHAN] : [];
  const next = [...finalizers.filter((name) => name !== FOREGROUND && name !== ORPHAN), ...wanted];
  return isSameSet(next, finalizers) ? finalizers : next;
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

function isEqual(a: Entry, b: Entry): boolean {
  return JSON.stringify({ ...a, version: 0 }) === JSON.stringify({ ...b, version: 0 });
}

function toEntry(object: KindObject): Entry {
  const { resourceVersion, generation, labels, finalizers = [], deletionTimestamp } = object.metadata;
  return {
    version: Number(resourceVersion),
    generation,
    spec: (object.spec as { size: number }).size,
    status: (object.status as { size: number } | undefined)?.size,
    team: labels?.['team'] ?? '',
    finalizers,
    isDeleting: deletionTimestamp !== undefined,
  };
}

function shown({ type, object, resourceVersion }: StoreEvent): string {
  return `${resourceVersion} ${type} ${object.metadata.name} ${JSON.stringify(toEntry(object))}`;
}

const KEY = { kind: 'Box', namespace: 'default' };

async function perform(store: Store, step: Step): Promise<string | undefined> {
  try {
    await write(store, step);
    return undefined;
  } catch (error) {
    if (error instanceof AgentisoError) return error.code;
    throw error;
  }
}

async function write(store: Store, step: Step): Promise<unknown> {
  if (step.do === 'create') {
    const { name, spec, team, finalizers } = step;
    const metadata = { name, labels: { team }, finalizers: [...finalizers] };
    return store.create({ apiVersion: 'test/v1', kind: 'Box', metadata, spec: { size: spec }, status: { size: 99 } });
  }
  const key = { ...KEY, name: step.name };
  const stored = store.get(key);
  const { resourceVersion = '1' } = stored?.metadata ?? {};
  const stale = String(Number(resourceVersion) - 1);
  if (step.do === 'delete') {
    const preconditions = step.precondition === 'none' ? {} : { resourceVersion: step.precondition === 'stale' ? stale : resourceVersion };
    return store.delete(key, { preconditions, ...(step.policy ? { propagationPolicy: step.policy } : {}) });
  }
  const base: KindObject = stored ?? { apiVersion: 'test/v1', kind: 'Box', metadata: { ...meta(step.name), resourceVersion } };
  const metadata = { ...base.metadata, resourceVersion: step.isStale ? stale : resourceVersion };
  if (step.do === 'updateStatus') {
    // Spec and labels of a status write are nobody's business.
    const rest = { spec: { size: 1_000 }, status: { size: step.status } };
    return store.update({ ...base, metadata: { ...metadata, labels: { team: 'ignored' } }, ...rest }, { subresource: 'status' });
  }
  const { spec, team, finalizers } = step.change;
  if (team !== undefined) metadata.labels = { team };
  if (finalizers !== undefined) metadata.finalizers = [...finalizers];
  return store.update({ ...base, metadata, ...(spec === undefined ? {} : { spec: { size: spec } }), status: { size: 1_000 } });
}

function meta(name: string) {
  return { name, namespace: 'default', uid: '', generation: 1, creationTimestamp: '' };
}

const name = fc.constantFrom('a', 'b', 'c');
const size = fc.integer({ min: 1, max: 3 });
const team = fc.constantFrom('red', 'blue');
const finalizers = fc.subarray(['x/one', 'x/two', FOREGROUND], { maxLength: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), name, spec: size, team, finalizers }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      name,
      isStale: fc.boolean(),
      change: fc.record({ spec: size, team, finalizers }, { requiredKeys: [] }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('updateStatus' as const), name, isStale: fc.boolean(), status: size }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      name,
      precondition: fc.constantFrom('none' as const, 'current' as const, 'stale' as const),
      policy: fc.constantFrom(undefined, 'Background' as const, 'Foreground' as const, 'Orphan' as const),
    }),
  },
);

describe('the store', () => {
  it('answers, stores and tells watchers what a plain Map with the same rules would', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const store = memoryStore({ kinds: ['Box'], historyLimit: HISTORY });
        const model = new Model();
        const all: string[] = [];
        const red: string[] = [];
        store.watch('Box', {}, (event) => all.push(shown(event)));
        store.watch('Box', { labelSelector: 'team=red' }, (event) => red.push(shown(event)));
        for (const each of steps) {
          const expected = model.take(each);
          expect(await perform(store, each)).toBe(expected);
          expect(store.resourceVersion).toBe(model.version);
          const stored = store.list('Box').items.map((object) => [object.metadata.name, toEntry(object)] as const);
          expect(stored).toEqual([...model.entries].sort(([a], [b]) => (a < b ? -1 : 1)));
        }
        expect(all).toEqual(model.seen(undefined));
        expect(red).toEqual(model.seen('red'));
        checkResumption(store, model);
      }),
      { numRuns: 250 },
    );
  });
});

/** From every retained version the rest; from older ones, and from ones that never were, an error. */
function checkResumption(store: Store, model: Model): void {
  const floor = Math.max(0, model.version - HISTORY);
  for (let since = 0; since <= model.version + 1; since++) {
    const seen: string[] = [];
    const resume = () =>
      store.watch('Box', { resourceVersion: String(since), labelSelector: 'team=red' }, (event) => seen.push(shown(event)));
    if (since < floor || since > model.version) expect(resume).toThrow(expect.objectContaining({ code: 'Expired' }));
    else {
      resume()();
      expect(seen).toEqual(model.seen('red', since));
    }
  }
  expect(store.watcherCount).toBe(2);
}
