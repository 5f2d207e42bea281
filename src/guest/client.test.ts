import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StalledError } from '#lib/errors.ts';
import { Channel } from '#protocol/channel.ts';
import { common, GENERATION } from '#protocol/common.ts';
import { encodeFrame, FrameDecoder } from '#protocol/framing.ts';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { connectGuest } from './client.ts';

const IDENTITY = { id: 'a', incarnation: 'b' };
const HELLO = { ...IDENTITY, version: '1.2.3', generation: GENERATION };

let pair: SocketPair;

beforeEach(async () => {
  pair = await socketPair();
});

afterEach(() => pair.destroy());

/** A guest that answers whatever it is told to. */
function answerWith(results: readonly unknown[]): void {
  const decoder = new FrameDecoder();
  const rest = [...results];
  pair.far.on('data', (chunk: Buffer) => {
    for (const message of decoder.push(chunk)) {
      if ('params' in (message as object)) pair.far.write(encodeFrame({ id: (message as { id: number }).id, result: rest.shift() }));
    }
  });
}

describe('connectGuest', () => {
  it('knows the version of the guest it has greeted', async () => {
    answerWith([HELLO]);
    expect((await connectGuest(pair.near, IDENTITY)).version).toBe('1.2.3');
  });

  it('needs a person when the generations differ', async () => {
    answerWith([{ ...HELLO, generation: GENERATION + 1 }]);
    const failure = await connectGuest(pair.near, IDENTITY).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StalledError);
    expect(failure).toMatchObject({ reason: 'ProtocolMismatch' });
  });

  it.each([{ id: 'other' }, { incarnation: 'other' }])('refuses a guest that says it is %o', async (lie) => {
    answerWith([{ ...HELLO, ...lie }]);
    await expect(connectGuest(pair.near, IDENTITY)).rejects.toMatchObject({ reason: 'WrongGuest' });
  });

  it('gives up with the signal', async () => {
    const controller = new AbortController();
    const connecting = connectGuest(pair.near, { ...IDENTITY, signal: controller.signal });
    controller.abort(new Error('stopping'));
    await expect(connecting).rejects.toThrowError('stopping');
  });
});

describe('call', () => {
  it.each([null, 7, {}, { version: 1, generation: 1, uptimeMs: 1 }, { version: '1', generation: 1, uptimeMs: -1 }])(
    'does not let through the answer %j to a ping',
    async (result) => {
      answerWith([HELLO, result]);
      const client = await connectGuest(pair.near, IDENTITY);
      await expect(client.call('ping', {})).rejects.toMatchObject({ name: 'AgentisoError', code: 'Invalid' });
    },
  );

  it('says why the connection ended', async () => {
    new Channel(pair.far, { outgoing: {}, incoming: { hello: common.hello }, handlers: { hello: async () => HELLO } });
    const client = await connectGuest(pair.near, IDENTITY);
    pair.far.destroy();
    expect(await client.closed).toMatchObject({ name: 'AgentisoError', code: 'Unavailable' });
    await expect(client.call('ping', {})).rejects.toMatchObject({ code: 'Unavailable' });
  });
});
