import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { connectGuest } from '#guest/client.ts';
import { WaitingError } from '#lib/errors.ts';
import { type SocketPair, socketPair } from '../../../test/support/socket-pair.ts';
import { untilHeard } from './until-heard.ts';

const { signal } = new AbortController();
let pairs: SocketPair[] = [];

afterEach(() => {
  for (const pair of pairs) pair.destroy();
  pairs = [];
});

/** To a guest that hangs up when it is spoken to. */
async function connect(): Promise<Duplex> {
  const pair = await socketPair();
  pairs.push(pair);
  pair.far.once('data', () => pair.far.destroy());
  return pair.near;
}

describe('untilHeard', () => {
  it('says it again on another connection when one was lost, or the guest has to be waited for', async () => {
    const say = async (stream: Duplex): Promise<number> => {
      if (pairs.length === 1) await connectGuest(stream, { id: 'agent', incarnation: 'first' });
      if (pairs.length === 2) throw new WaitingError('Busy', 'not now', 10);
      return pairs.findIndex(({ near }) => near === stream);
    };
    expect(await untilHeard(connect, say, signal)).toBe(2);
  });

  it('passes on what the guest itself has answered, and ends with whoever wanted it', async () => {
    const refuse = async () => {
      throw new Error('refused');
    };
    await expect(untilHeard(connect, refuse, signal)).rejects.toThrow('refused');
    const limit = new AbortController();
    const busy = async () => {
      limit.abort();
      throw new WaitingError('Busy', 'not now', 10);
    };
    await expect(untilHeard(connect, busy, limit.signal)).rejects.toThrow('not now');
  });
});
