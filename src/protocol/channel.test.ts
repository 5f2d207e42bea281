import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { Channel } from './channel.ts';
import { common } from './common.ts';
import { control, type ExecParams, type ExecResult } from './control.ts';
import { encodeFrame, FrameDecoder, MAX_FRAME_BYTES } from './framing.ts';
import type { HandlerOf, HandlersOf } from './method.ts';
import { ProtocolError } from './protocol-error.ts';

let pair: SocketPair;

beforeEach(async () => {
  pair = await socketPair();
});

afterEach(() => pair.destroy());

/** Enough of the real tables. */
const methods = { ping: common.ping, exec: control.exec };
type Methods = typeof methods;
type Exec = HandlerOf<Methods, 'exec'>;

const RESULT: ExecResult = {
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
  timedOut: false,
  elapsedMs: 0,
};

const RUNNING = { version: '1', generation: 1, uptimeMs: 0 };
const PONG = encodeFrame({ id: 1, result: RUNNING });

function handlers(exec: Exec): HandlersOf<Methods> {
  return { ping: async () => RUNNING, exec };
}

/** Nothing at all of this process happens meanwhile. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function answering(stream: SocketPair['near'], exec: Exec): Channel<Methods, Methods> {
  return new Channel(stream, { outgoing: methods, incoming: methods, handlers: handlers(exec) });
}

const asking = () => new Channel(pair.near, { outgoing: methods });

function command(text: string): ExecParams {
  return { command: text, timeoutMs: 1000 };
}

/** Reads one message from a raw socket. */
async function nextMessage(decoder = new FrameDecoder()): Promise<unknown> {
  for (;;) {
    const [chunk] = (await once(pair.far, 'data')) as [Buffer];
    for (const message of decoder.push(chunk)) return message;
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('Channel', () => {
  it('matches answers that come in another order', async () => {
    const gates = new Map([
      ['first', deferred()],
      ['second', deferred()],
    ]);
    const exec: Exec = async (params) => {
      const name = params.command ?? '';
      await gates.get(name)?.promise;
      return { ...RESULT, stdout: name };
    };
    answering(pair.far, exec);
    const channel = asking();
    const first = channel.call('exec', command('first'));
    const second = channel.call('exec', command('second'));
    gates.get('second')?.resolve();
    expect((await second).stdout).toBe('second');
    gates.get('first')?.resolve();
    expect((await first).stdout).toBe('first');
  });

  it('sends what is said in one turn in one piece, in its order, and at once when told to', async () => {
    const pieces: Buffer[] = [];
    const stream = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        pieces.push(chunk);
        done();
      },
    });
    const channel = new Channel(stream, { outgoing: methods });
    const ids = () => pieces.splice(0).map((piece) => [...new FrameDecoder().push(piece)].map((message) => (message as { id: number }).id));
    const calls = [1, 2, 3].map(() => channel.call('ping', {}).catch(() => {}));
    expect(pieces).toEqual([]);
    await new Promise(setImmediate);
    expect(ids()).toEqual([[1, 2, 3]]);
    calls.push(channel.call('ping', {}).catch(() => {}));
    channel.flush();
    expect(ids()).toEqual([[4]]);
    channel.close(new ProtocolError('Unavailable', 'enough'));
    await Promise.all(calls);
    stream.destroy();
  });

  it('says what is on its way before it hangs up', async () => {
    const channel = asking();
    const call = channel.call('ping', {}).catch(() => {});
    channel.close(new ProtocolError('Unavailable', 'enough'));
    const decoder = new FrameDecoder();
    const heard: unknown[] = [];
    for await (const chunk of pair.far) heard.push(...decoder.push(chunk as Buffer));
    expect(heard).toMatchObject([{ type: 'ping' }, { type: 'close' }]);
    await call;
  });

  it('carries many large answers at once', async () => {
    const text = 'x'.repeat(3_000_000);
    answering(pair.far, async () => ({ ...RESULT, stdout: text }));
    const channel = asking();
    const results = await Promise.all(Array.from({ length: 10 }, () => channel.call('exec', command('x'))));
    expect(results.every(({ stdout }) => stdout === text)).toBe(true);
  });

  it('gives the error of the handler to the caller, and of an answer that is too large', async () => {
    const exec: Exec = async (params) => {
      if (params.command !== undefined) throw new Error('broken');
      return { ...RESULT, stdout: 'x'.repeat(MAX_FRAME_BYTES) };
    };
    answering(pair.far, exec);
    const channel = asking();
    await expect(channel.call('exec', command('x'))).rejects.toMatchObject({ code: 'Internal', message: 'broken' });
    await expect(channel.call('exec', { argv: ['x'], timeoutMs: 1 })).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(channel.call('ping', {})).resolves.toMatchObject({ generation: 1 });
  });

  it('refuses a message that is too large before it is written', async () => {
    answering(pair.far, async () => RESULT);
    const channel = asking();
    await expect(channel.call('exec', command('x'.repeat(MAX_FRAME_BYTES)))).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(channel.call('ping', {})).resolves.toBeDefined();
  });

  it('answers an unknown method with Invalid and goes on', async () => {
    answering(pair.near, async () => RESULT);
    pair.far.write(encodeFrame({ id: 1, type: 'constructor', params: {} }));
    expect(await nextMessage()).toMatchObject({ id: 1, error: { code: 'Invalid' } });
    pair.far.write(encodeFrame({ id: 2, type: 'ping', params: {} }));
    expect(await nextMessage()).toMatchObject({ id: 2, result: { generation: 1 } });
  });

  it('cancels the work of a call whose signal aborts, and counts its late answer', async () => {
    const started = deferred();
    const cancelled = deferred();
    const exec: Exec = async (_params, { signal }) => {
      started.resolve();
      await once(signal, 'abort');
      cancelled.resolve();
      return RESULT;
    };
    answering(pair.far, exec);
    const channel = asking();
    const controller = new AbortController();
    const call = channel.call('exec', command('x'), { signal: controller.signal });
    await started.promise;
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrowError('changed my mind');
    await cancelled.promise;
    // The answer to this one comes behind the late one.
    await channel.call('ping', {});
    expect(channel.lateAnswers).toBe(1);
  });

  it('gives up at the deadline and tells the other side', async () => {
    const aborted = deferred();
    const exec: Exec = async (_params, { signal }) => {
      await once(signal, 'abort');
      aborted.resolve();
      return RESULT;
    };
    answering(pair.far, exec);
    const channel = asking();
    await expect(channel.call('exec', command('x'), { deadlineMs: 20 })).rejects.toMatchObject({ code: 'Timeout' });
    await aborted.promise;
  });

  it('does not abort the work when the connection is lost', async () => {
    const started = deferred();
    const release = deferred();
    const done = deferred();
    let wasAborted: boolean | undefined;
    const exec: Exec = async (_params, { signal }) => {
      started.resolve();
      await release.promise;
      wasAborted = signal.aborted;
      done.resolve();
      return RESULT;
    };
    const far = answering(pair.far, exec);
    const call = asking().call('exec', command('x'));
    await started.promise;
    pair.near.destroy();
    await expect(call).rejects.toMatchObject({ code: 'Unavailable' });
    await far.closed;
    release.resolve();
    await done.promise;
    expect(wasAborted).toBe(false);
  });

  it('rejects what is in flight, and every later call, with the reason of the peer', async () => {
    const far = answering(pair.far, () => new Promise(() => {}));
    const channel = asking();
    const call = channel.call('exec', command('x'));
    await channel.call('ping', {});
    far.close(new ProtocolError('Conflict', 'no longer wanted'));
    const gone = { code: 'Unavailable', message: expect.stringContaining('no longer wanted') };
    await expect(call).rejects.toMatchObject(gone);
    await expect(channel.call('ping', {})).rejects.toMatchObject(gone);
  });

  it.each([
    { name: 'length 0', bytes: Buffer.from([0, 0, 0, 0]), reason: /length 0/ },
    { name: 'too large', bytes: Buffer.from([0x7f, 0, 0, 0]), reason: /over the limit/ },
    { name: 'bad JSON', bytes: Buffer.concat([Buffer.from([0, 0, 0, 1]), Buffer.from('{')]), reason: /not UTF-8 JSON/ },
    { name: 'no message', bytes: encodeFrame([1]), reason: /must be an object/ },
    { name: 'an answer to nothing', bytes: encodeFrame({ id: 7, result: {} }), reason: /never sent/ },
    { name: 'a stream of nothing', bytes: encodeFrame({ id: 9, type: 'eof', side: 'handler', stream: 'x' }), reason: /never sent/ },
    {
      name: 'an id that goes back',
      bytes: Buffer.concat([5, 4].map((id) => encodeFrame({ id, type: 'exec', params: command('x') }))),
      reason: /comes after 5/,
    },
    {
      name: 'an id in flight',
      bytes: Buffer.concat([1, 1].map((id) => encodeFrame({ id, type: 'exec', params: command('x') }))),
      reason: /already in flight/,
    },
  ])('closes on a frame that is $name, and says why', async ({ bytes, reason }) => {
    const channel = answering(pair.near, () => new Promise(() => {}));
    pair.far.write(bytes);
    expect(await nextMessage()).toMatchObject({ type: 'close', error: { message: expect.stringMatching(reason) } });
    expect((await channel.closed).message).toMatch(reason);
    pair.far.destroy();
  });

  it('closes when more requests are in flight than it holds', async () => {
    const channel = answering(pair.near, () => new Promise(() => {}));
    for (let id = 1; id <= 257; id += 1) pair.far.write(encodeFrame({ id, type: 'exec', params: command('x') }));
    expect((await channel.closed).message).toMatch(/in flight/);
  });

  it('closes when a side that takes no requests is asked', async () => {
    const channel = asking();
    pair.far.write(encodeFrame({ id: 1, type: 'ping', params: {} }));
    expect((await channel.closed).message).toMatch(/no requests/);
  });

  it('says when the peer hung up in the middle of a frame', async () => {
    const channel = asking();
    pair.far.end(encodeFrame({ id: 1, result: {} }).subarray(0, 6));
    expect((await channel.closed).message).toMatch(/middle of a frame/);
  });

  it('closes when a frame takes too long', async () => {
    const channel = new Channel(pair.near, { outgoing: methods, frameMs: 20 });
    pair.far.write(encodeFrame({ id: 1, result: {} }).subarray(0, 6));
    expect((await channel.closed).message).toMatch(/not complete 20 ms/);
  });

  it('takes the rest of a frame that came while this process stood still', async () => {
    const result = new Channel(pair.near, { outgoing: methods, frameMs: 20 }).call('ping', {});
    pair.far.write(PONG.subarray(0, 6));
    await once(pair.near, 'data');
    pair.far.write(PONG.subarray(6));
    standStill(60);
    expect(await result).toMatchObject({ version: '1' });
  });

  it('takes an answer that came while this process stood still for longer than it may take', async () => {
    const channel = asking();
    // It reads by then.
    void channel.call('ping', {}).catch(() => {});
    await once(pair.far, 'readable');
    const result = channel.call('ping', {}, { deadlineMs: 20 });
    pair.far.write(encodeFrame({ id: 2, result: RUNNING }));
    standStill(700);
    expect(await result).toMatchObject({ version: '1' });
  });
});
