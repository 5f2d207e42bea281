import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ExpiredError } from '#lib/errors.ts';
import type { Asking } from '../resource.ts';
import { type Source, together, watched } from './changes.ts';

/** A source by hand. */
function manual() {
  const waiting: (() => void)[] = [];
  let items = 0;
  let failure: Error | undefined;
  const state = { isOpen: false };
  const source: Source = async function* ({ signal }) {
    state.isOpen = true;
    signal.addEventListener('abort', () => waiting.shift()?.());
    try {
      while (!signal.aborted) {
        if (failure) throw failure;
        if (items > 0) {
          items--;
          yield;
        } else await new Promise<void>((resolve) => waiting.push(resolve));
      }
    } finally {
      state.isOpen = false;
    }
  };
  const give = (count = 1) => {
    items += count;
    waiting.shift()?.();
  };
  const fail = (error: Error) => {
    failure = error;
    waiting.shift()?.();
  };
  return { source, give, fail, state };
}

function asking(signal = new AbortController().signal): Asking {
  return { signal } as Asking;
}

describe('together', () => {
  it('begins when all have begun, and makes one item of those that come while nobody asks', async () => {
    const [one, two] = [manual(), manual()];
    const all = together([one.source, two.source], asking());
    let hasBegun = false;
    const first = all.next().then(() => {
      hasBegun = true;
    });
    one.give();
    await nextTurn();
    expect(hasBegun).toBe(false);
    two.give();
    await first;
    one.give(5);
    two.give(5);
    await nextTurn();
    expect(await all.next()).toEqual({ done: false, value: undefined });
    let isNext = false;
    const next = all.next().then(() => {
      isNext = true;
    });
    await nextTurn();
    expect(isNext).toBe(false);
    two.give();
    await next;
    await all.return(undefined);
    expect([one.state.isOpen, two.state.isOpen]).toEqual([false, false]);
  });

  it('fails with the first that fails, and leaves none of the others open', async () => {
    const [one, two] = [manual(), manual()];
    const all = together([one.source, two.source], asking());
    const first = all.next();
    one.give();
    two.give();
    await first;
    one.fail(new Error('the server is gone'));
    await expect(all.next()).rejects.toThrow('the server is gone');
    expect(two.state.isOpen).toBe(false);
  });

  it('ends with its signal, and a stream that breaks then has not failed', async () => {
    const ending = new AbortController();
    const one = manual();
    const all = together([one.source], asking(ending.signal));
    const first = all.next();
    one.give();
    await first;
    const next = all.next();
    one.fail(new Error('aborted'));
    ending.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

it('begins anew when the server has forgotten where it was: that is a change', async () => {
  const versions: (string | undefined)[] = [];
  const client = {
    list: async () => ({ items: [], resourceVersion: String(versions.length) }),
    // biome-ignore lint/correctness/useYield: it has nothing to tell
    async *watch(_kind: string, { resourceVersion }: { resourceVersion?: string }) {
      versions.push(resourceVersion);
      if (versions.length === 1) throw new ExpiredError('too old');
      throw new Error('over');
    },
  };
  const items = watched('Task', {})({ ...asking(), client: client as unknown as Asking['client'] })[Symbol.asyncIterator]();
  await items.next();
  await items.next();
  await expect(items.next()).rejects.toThrow('over');
  expect(versions).toEqual(['0', '1']);
});
