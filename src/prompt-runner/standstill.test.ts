import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Standstill } from './standstill.ts';

const CALL = { what: 'run: make', tookMs: 5 };
const FOUND = 'the same call 20 times in a row, and no file has changed';

/** Files whose hash a test sets; `ask` is how long a look at them takes. */
function world({ ask = async () => {} }: { ask?: () => Promise<void> } = {}) {
  const files = { hash: 'a', looks: 0 };
  const standstill = new Standstill(async () => {
    files.looks++;
    await ask();
    return files.hash;
  });
  let found: string | undefined;
  void standstill.found.then((what) => {
    found = what;
  });
  const settle = async () => {
    for (let round = 0; round < 10; round++) await turn();
  };
  /** As an agent that makes one call after the other: each is heard of before the next. */
  const call = async (times: number, given = CALL) => {
    for (let each = 0; each < times; each++) {
      standstill.callEnded(given);
      await settle();
    }
  };
  return { files, standstill, call, settle, found: () => found };
}

describe('a turn that makes the same call again and again', () => {
  it('stands still after twenty of them, when no file has changed in the second half', async () => {
    const { call, found } = world();
    await call(19);
    expect(found()).toBeUndefined();
    await call(1);
    expect(found()).toBe(FOUND);
  });

  it('gets on while files change, until they do not', async () => {
    const { files, call, found } = world();
    for (let round = 0; round < 6; round++) {
      await call(10);
      files.hash += 'x';
    }
    expect(found()).toBeUndefined();
    await call(20);
    expect(found()).toBe(FOUND);
  });

  it('gets on when it does something else in between, or waits', async () => {
    const { call, found } = world();
    for (let round = 0; round < 3; round++) {
      await call(15);
      await call(1, { what: 'read: a', tookMs: 1 });
      await call(15);
      await call(1, { ...CALL, tookMs: 60_000 });
    }
    expect(found()).toBeUndefined();
  });

  it('is not blamed for calls that are heard of late: all of them may have ended before the first look at the files', async () => {
    const { files, standstill, call, settle, found } = world({ ask: () => turn() });
    for (let each = 0; each < 45; each++) standstill.callEnded(CALL);
    await settle();
    expect([files.looks, found()]).toEqual([1, undefined]);
    await call(9);
    expect(found()).toBeUndefined();
    await call(1);
    expect(found()).toBe(FOUND);
  });
});
