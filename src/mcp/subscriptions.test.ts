import { describe, expect, it, vi } from 'vitest';
import { Subscriptions } from './subscriptions.ts';

/** Items as the test gives them; says when it was left. */
function source() {
  const waiting: (() => void)[] = [];
  const state = { hasEnded: false, failure: undefined as Error | undefined };
  async function* changes(signal: AbortSignal): AsyncGenerator<void> {
    signal.addEventListener('abort', () => waiting.shift()?.());
    try {
      yield;
      for (;;) {
        await new Promise<void>((resolve) => void waiting.push(resolve));
        if (signal.aborted) return;
        if (state.failure) throw state.failure;
        yield;
      }
    } finally {
      state.hasEnded = true;
    }
  }
  return { changes, state, change: () => vi.waitFor(() => (waiting.shift() ?? fail())()) };
}

function fail(): never {
  throw new Error('nobody listens yet');
}

const session = () => {
  const ending = new AbortController();
  return { ending, following: new Subscriptions(ending.signal) };
};

describe('Subscriptions', () => {
  it('has begun when it resolves, and tells of changes from then on', async () => {
    const { following } = session();
    const { changes, change } = source();
    const onChange = vi.fn(async () => {});
    await following.begin('a', changes, onChange);
    expect(onChange).not.toHaveBeenCalled();
    await change();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1));
    await change();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(2));
  });

  it('follows each once', async () => {
    const { following } = session();
    const changes = vi.fn(source().changes);
    await following.begin('a', changes, async () => {});
    await following.begin('a', changes, async () => {});
    expect(changes).toHaveBeenCalledTimes(1);
  });

  it('ends with a word, and with the session', async () => {
    const { ending, following } = session();
    const [one, two] = [source(), source()];
    await following.begin('a', one.changes, async () => {});
    await following.begin('b', two.changes, async () => {});
    following.end('a');
    await vi.waitFor(() => expect(one.state.hasEnded).toBe(true));
    expect([following.has('a'), following.has('b'), two.state.hasEnded]).toEqual([false, true, false]);
    ending.abort();
    await vi.waitFor(() => expect(two.state.hasEnded).toBe(true));
    expect(following.has('b')).toBe(false);
  });

  it('says what cannot be followed, and can be asked again', async () => {
    const { following } = session();
    // biome-ignore lint/correctness/useYield: it fails before
    async function* broken(): AsyncGenerator<void> {
      throw new Error('no such team');
    }
    await expect(following.begin('a', broken, async () => {})).rejects.toThrow('no such team');
    expect(following.has('a')).toBe(false);
  });

  it('tells once more when following breaks off: the next read says why', async () => {
    const { following } = session();
    const { changes, change, state } = source();
    const onChange = vi.fn(async () => {});
    await following.begin('a', changes, onChange);
    state.failure = new Error('gone');
    await change();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1));
    await vi.waitFor(() => expect(following.has('a')).toBe(false));
  });

  it('is bounded', async () => {
    const { following } = session();
    for (let count = 0; count < 32; count++) await following.begin(`a${count}`, source().changes, async () => {});
    await expect(following.begin('one more', source().changes, async () => {})).rejects.toMatchObject({ code: 'QuotaExceeded' });
    following.end('a0');
    await following.begin('one more', source().changes, async () => {});
  });
});
