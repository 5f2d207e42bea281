import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { boxKey as key } from './box.fixture.ts';
import { Queue } from './queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The key that is there now, if any, without waiting for one. */
async function take(queue: Queue): Promise<string | undefined> {
  return queue.depth > 0 ? (await queue.next())?.name : undefined;
}

describe('a queue', () => {
  it('hands out a key once however often it was added', async () => {
    const queue = new Queue();
    queue.add(key('a'));
    queue.add(key('a'));
    queue.add(key('b'));
    expect([await take(queue), await take(queue), await take(queue)]).toEqual(['a', 'b', undefined]);
  });

  it('says for how long it has had work that nobody took', async () => {
    let nowMs = 1_000;
    const queue = new Queue({ nowMs: () => nowMs });
    expect(queue.stalledMs).toBe(0);
    queue.add(key('a'));
    queue.add(key('b'));
    nowMs += 500;
    expect(queue.stalledMs).toBe(500);
    await queue.next();
    expect(queue.stalledMs).toBe(0);
    nowMs += 200;
    expect(queue.stalledMs).toBe(200);
    await queue.next();
    nowMs += 10_000;
    expect(queue.stalledMs).toBe(0);
  });

  it('hands a key out again, after its pass, when it was added during the pass', async () => {
    const queue = new Queue();
    queue.add(key('a'));
    await queue.next();
    queue.add(key('a'));
    expect(await take(queue)).toBeUndefined();
    queue.done(key('a'));
    expect(await take(queue)).toBe('a');
    queue.done(key('a'));
    expect(await take(queue)).toBeUndefined();
  });

  it('wakes who waits, in order', async () => {
    const queue = new Queue();
    const waiting = [queue.next(), queue.next()];
    queue.add(key('a'));
    queue.add(key('b'));
    expect((await Promise.all(waiting)).map((one) => one?.name)).toEqual(['a', 'b']);
  });

  it('takes the earliest of several delays, with one timer', () => {
    const queue = new Queue();
    queue.addAfter(key('a'), 500);
    queue.addAfter(key('a'), 100);
    queue.addAfter(key('a'), 300);
    queue.addAfter(key('b'), 200);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(99);
    expect(queue.depth).toBe(0);
    vi.advanceTimersByTime(1);
    expect(queue.depth).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(queue.depth).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('forgets an older delay of a key when its pass begins', async () => {
    const queue = new Queue();
    queue.addAfter(key('a'), 100);
    queue.add(key('a'));
    await queue.next();
    queue.done(key('a'));
    vi.advanceTimersByTime(200);
    expect(queue.depth).toBe(0);
  });

  it('waits longer than a timer can', () => {
    const queue = new Queue();
    queue.addAfter(key('a'), 40 * 24 * 3_600_000);
    vi.advanceTimersByTime(39 * 24 * 3_600_000);
    expect(queue.depth).toBe(0);
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(queue.depth).toBe(1);
  });

  it('backs off from 5 ms, doubling to 30 s, until it is told to forget', () => {
    const queue = new Queue({ random: () => 1 });
    const delays: number[] = [];
    const measure = () => {
      queue.retry(key('a'));
      const before = performance.now();
      vi.advanceTimersToNextTimer();
      delays.push(performance.now() - before);
      void queue.next();
      queue.done(key('a'));
    };
    for (let i = 0; i < 15; i++) measure();
    queue.forget(key('a'));
    measure();
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 30_000, 30_000, 5]);
  });

  it('hands out first what somebody waits for, also when it was in line already', async () => {
    const queue = new Queue();
    for (const name of ['a', 'b', 'c']) queue.add(key(name));
    queue.addFirst(key('c'));
    queue.addFirst(key('d'));
    queue.add(key('c'));
    expect(queue.depth).toBe(4);
    expect([await take(queue), await take(queue), await take(queue), await take(queue), await take(queue)]).toEqual([
      ...['c', 'd', 'a', 'b'],
      undefined,
    ]);
  });

  it('hands out first, after its pass, what is waited for since the pass began, and never two passes of one key', async () => {
    const queue = new Queue();
    queue.add(key('a'));
    expect(await take(queue)).toBe('a');
    queue.add(key('b'));
    queue.add(key('a'));
    queue.addFirst(key('a'));
    expect(queue.depth).toBe(1);
    queue.done(key('a'));
    expect([await take(queue), await take(queue), await take(queue)]).toEqual(['a', 'b', undefined]);
  });

  it('lets nobody wait for ever because others go first', async () => {
    const queue = new Queue();
    queue.add(key('patient'));
    const taken: string[] = [];
    for (let index = 0; index < 20 && !taken.includes('patient'); index++) {
      queue.addFirst(key(`hurried-${index}`));
      queue.addFirst(key(`hurried-too-${index}`));
      taken.push((await take(queue)) ?? '');
    }
    expect(taken.indexOf('patient')).toBe(8);
  });

  it('ends: whoever waits gets nothing, nothing is taken, no timer stays', async () => {
    const queue = new Queue();
    const waiting = queue.next();
    queue.addAfter(key('a'), 100);
    queue.stop();
    queue.add(key('b'));
    expect(await waiting).toBeUndefined();
    expect(await queue.next()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reports adds, retries and depth', async () => {
    const seen = { added: 0, retried: 0, depth: 0 };
    const hooks = { added: () => seen.added++, retried: () => seen.retried++, depth: (depth: number) => (seen.depth = depth) };
    const queue = new Queue({ hooks });
    queue.add(key('a'));
    queue.add(key('a'));
    queue.add(key('b'));
    expect(seen).toEqual({ added: 2, retried: 0, depth: 2 });
    await queue.next();
    queue.retry(key('a'));
    expect(seen).toEqual({ added: 2, retried: 1, depth: 1 });
  });
});

/** The queue said in the plainest way: sets and a list, no heap, no timer. */
class Model {
  ready: string[] = [];
  readonly running = new Set<string>();
  readonly again = new Set<string>();
  readonly due = new Map<string, number>();

  add(name: string): void {
    if (this.running.has(name)) this.again.add(name);
    else if (!this.ready.includes(name)) this.ready.push(name);
  }

  addAt(name: string, at: number): void {
    this.due.set(name, Math.min(at, this.due.get(name) ?? at));
  }

  next(): string | undefined {
    const name = this.ready.shift();
    if (name !== undefined) this.#begin(name);
    return name;
  }

  done(name: string): void {
    this.running.delete(name);
    if (this.again.delete(name)) this.ready.push(name);
  }

  advance(now: number): void {
    const due = [...this.due].filter(([, at]) => at <= now).sort(([, a], [, b]) => a - b);
    for (const [name] of due) {
      this.due.delete(name);
      this.add(name);
    }
  }

  #begin(name: string): void {
    this.running.add(name);
    this.due.delete(name);
  }
}

type Step =
  | { do: 'add' | 'done'; name: string }
  | { do: 'after'; name: string; ms: number }
  | { do: 'next' }
  | { do: 'advance'; ms: number };

const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('add' as const, 'done' as const), name: names }),
  fc.record({ do: fc.constant('after' as const), name: names, ms: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant('next' as const) }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 300 }) }),
);

/** The queue and its model side by side. */
class Pair {
  readonly queue = new Queue();
  readonly model = new Model();

  async play(step: Step, index: number): Promise<void> {
    switch (step.do) {
      case 'add':
        this.queue.add(key(step.name));
        this.model.add(step.name);
        break;
      case 'after':
        // A fraction of its own: of delays that end at the very same time either may come first.
        this.#addAfter(step.name, step.ms - index / 1_000);
        break;
      case 'next':
        expect(await take(this.queue)).toBe(this.model.next());
        break;
      case 'done':
        this.#done(step.name);
        break;
      case 'advance':
        this.#advance(step.ms);
    }
    expect(this.queue.depth).toBe(this.model.ready.length);
    expect(this.queue.runningCount).toBe(this.model.running.size);
  }

  #addAfter(name: string, ms: number): void {
    this.queue.addAfter(key(name), ms);
    this.model.addAt(name, performance.now() + ms);
  }

  #done(name: string): void {
    if (!this.model.running.has(name)) return;
    this.queue.done(key(name));
    this.model.done(name);
  }

  /** A millisecond at a time, as the model has no timers of its own. */
  #advance(ms: number): void {
    for (let i = 0; i < ms; i++) {
      vi.advanceTimersByTime(1);
      this.model.advance(performance.now());
    }
  }
}

it('behaves like its model, whatever is done to it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 120 }), async (script) => {
      const pair = new Pair();
      for (const [index, step] of script.entries()) await pair.play(step, index);
      pair.queue.stop();
    }),
  );
});
