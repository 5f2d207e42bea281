/**
 * Whatever people do, however often passes fail, are slow or are overtaken, and whatever becomes of watches: once that is over, every object
 * is as it was last asked to be, never had two passes at once, and nobody goes on working.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ConflictError, ignoreNotFound, isCode, UnavailableError, WaitingError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { type Box, type BoxFixture, boxFixture, boxKey, newBox } from './box.fixture.ts';
import type { Controller } from './controller.ts';
import { createManager } from './manager.ts';
import { interceptClient, type Verb } from './testing.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Step =
  | { do: 'ask'; name: string; size: number }
  | { do: 'delete' | 'label' | 'wake'; name: string }
  | { do: 'fail'; how: 'error' | 'waiting'; times: number }
  | { do: 'refuse'; verb: Verb; how: 'conflict' | 'unavailable'; times: number }
  | { do: 'slow'; ms: number }
  | { do: 'advance'; ms: number };

interface Shape {
  readonly concurrency: number;
  readonly ignoresOwnWrites: boolean;
  readonly knowsRest: boolean;
  /** With 1, a watch that is not always listening has missed something. */
  readonly historyLimit: number;
}

const names = fc.constantFrom('a', 'b', 'c', 'd');
const times = fc.integer({ min: 1, max: 4 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), name: names, size: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'label' as const, 'wake' as const), name: names }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fail' as const), how: fc.constantFrom('error' as const, 'waiting' as const), times }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      verb: fc.constantFrom<Verb[]>('get', 'list', 'watch', 'update', 'updateStatus'),
      how: fc.constantFrom('conflict' as const, 'unavailable' as const),
      times,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('slow' as const), ms: fc.integer({ min: 0, max: 60 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 80 }) }) },
);
const shapes: fc.Arbitrary<Shape> = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  ignoresOwnWrites: fc.boolean(),
  knowsRest: fc.boolean(),
  historyLimit: fc.constantFrom(1, 1_000),
});

/** Longer than the longest back-off, shorter than the look at everything: what is not done by then was forgotten. */
const PATIENCE_MS = 120_000;

class Play {
  readonly #fixture: BoxFixture;
  readonly #asked = new Map<string, number>();
  readonly #running = new Set<string>();
  readonly #refusals: { readonly verb: Verb; readonly error: Error }[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #wake: (name: string) => void = () => {};
  #slowMs = 0;
  passes = 0;

  constructor(shape: Shape) {
    this.#fixture = boxFixture({ historyLimit: shape.historyLimit });
    const client = interceptClient(this.#fixture.client, (verb) => this.#refuse(verb));
    const manager = createManager({ client, log: silentLogger, controllers: [this.#controller(shape)] });
    this.#ended = manager.start(this.#stop.signal);
  }

  #controller({ concurrency, ignoresOwnWrites, knowsRest }: Shape): Controller<Box> {
    const { controller } = this.#fixture;
    const alone = async <R>({ metadata }: Box, work: () => Promise<R>): Promise<R> => {
      expect(this.#running, 'two passes for one object').not.toContain(metadata.name);
      this.#running.add(metadata.name);
      this.passes += 1;
      try {
        if (this.#slowMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#slowMs));
        return await work();
      } finally {
        this.#running.delete(metadata.name);
      }
    };
    return {
      ...controller,
      concurrency,
      ignoresOwnWrites,
      ...(knowsRest && { isAtRest: ({ spec, status }) => status?.size === spec?.size }),
      wakes: [
        (enqueue) => {
          this.#wake = (name) => enqueue(boxKey(name));
          return () => {};
        },
      ],
      reconcile: (box, ctx) => alone(box, () => controller.reconcile(box, ctx)),
      finalize: (box, ctx) => alone(box, async () => (await controller.finalize?.(box, ctx)) ?? 'done'),
    };
  }

  #refuse(verb: Verb): void {
    const at = this.#refusals.findIndex((refusal) => refusal.verb === verb);
    const [refusal] = at < 0 ? [] : this.#refusals.splice(at, 1);
    if (refusal) throw refusal.error;
  }

  async act(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        return this.#ask(step.name, step.size);
      case 'label':
        return this.#label(step.name);
      case 'delete':
        this.#asked.delete(step.name);
        await ignoreNotFound(this.#fixture.client.delete(boxKey(step.name)));
        return;
      case 'wake':
        this.#wake(step.name);
        return;
      case 'fail':
        for (let i = 0; i < step.times; i++) this.#fixture.world.refusals.push(failure(step.how));
        return;
      case 'refuse':
        for (let i = 0; i < step.times; i++) this.#refusals.push({ verb: step.verb, error: refusalOf(step.how) });
        return;
      case 'slow':
        this.#slowMs = step.ms;
        return;
      case 'advance':
        await vi.advanceTimersByTimeAsync(step.ms);
    }
  }

  /** As people do: it is made when there is none, and one that is on its way out cannot be had back. */
  async #ask(name: string, size: number): Promise<void> {
    const { client } = this.#fixture;
    await this.#insist(name, async (box) => {
      if (box?.metadata.deletionTimestamp !== undefined) return;
      await (box ? client.update({ ...box, spec: { size } }) : client.create(newBox(name, size)));
      this.#asked.set(name, size);
    });
  }

  /** A change that asks for nothing. */
  async #label(name: string): Promise<void> {
    await this.#insist(name, async (box) => {
      if (!box) return;
      const labels = { ...box.metadata.labels, seen: `v${box.metadata.resourceVersion}` };
      await this.#fixture.client.update({ ...box, metadata: { ...box.metadata, labels } });
    });
  }

  /** Somebody else may write in between: then it is read again. */
  async #insist(name: string, change: (box: Box | undefined) => Promise<void>): Promise<void> {
    try {
      await change(this.#fixture.get(name));
    } catch (error) {
      const raced = ['Conflict', 'NotFound', 'AlreadyExists'] as const;
      if (!raced.some((code) => isCode(error, code))) throw error;
      await this.#insist(name, change);
    }
  }

  /** Trouble is over. */
  async calmDown(): Promise<void> {
    this.#slowMs = 0;
    this.#refusals.length = 0;
    this.#fixture.world.refusals.length = 0;
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
  }

  get asked(): [string, number][] {
    return [...this.#asked].sort();
  }

  /** What the objects ask for, what they say, and what there is. */
  seen(): { readonly wished: [string, unknown][]; readonly said: [string, unknown][]; readonly made: [string, unknown][] } {
    const { store, world } = this.#fixture;
    const boxes = store.list('Box').items as readonly Box[];
    const nameOf = new Map(boxes.map(({ metadata }) => [metadata.uid, metadata.name]));
    return {
      wished: boxes.map(({ metadata, spec }) => [metadata.name, spec?.size]),
      said: boxes.map(({ metadata, status }) => [metadata.name, status?.size]),
      made: [...world.boxes].map(([uid, size]): [string, unknown] => [nameOf.get(uid) ?? `left behind: ${uid}`, size]).sort(),
    };
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }
}

function failure(how: 'error' | 'waiting'): Error {
  return how === 'error' ? new Error('the world refuses') : new WaitingError('Later', 'not now', 40);
}

function refusalOf(how: 'conflict' | 'unavailable'): Error {
  return how === 'conflict' ? new ConflictError('somebody else wrote') : new UnavailableError('not now');
}

it('comes to what was last asked, whatever happens on the way, and rests then', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(shapes, fc.array(steps, { maxLength: 60 }), async (shape, script) => {
      vi.clearAllTimers(); // of a script that failed, whose shorter forms are tried now
      const play = new Play(shape);
      for (const step of script) await play.act(step);
      await play.calmDown();
      expect(play.seen()).toEqual({ wished: play.asked, said: play.asked, made: play.asked });
      const { passes } = play;
      await vi.advanceTimersByTimeAsync(PATIENCE_MS);
      expect(play.passes, 'passes although nothing is left to do').toBe(passes);
      await play.end();
      expect(vi.getTimerCount()).toBe(0);
    }),
  );
});
