/** Streams of calls over a real socket: bytes, order, back-pressure, and how each end learns of an end. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { WINDOW_BYTES } from './byte-streams.ts';
import { Channel } from './channel.ts';
import { nothing } from './common.ts';
import { encodeFrame } from './framing.ts';
import { type HandlersOf, method, streaming } from './method.ts';
import { ProtocolError } from './protocol-error.ts';

let pair: SocketPair;

beforeEach(async () => {
  pair = await socketPair();
});

afterEach(() => pair.destroy());

const methods = {
  echo: streaming(nothing, nothing, { up: ['input'], down: ['output'] }),
  produce: streaming(nothing, nothing, { down: ['output'] }),
  ping: method(nothing, nothing),
};
type Methods = typeof methods;

const usual: HandlersOf<Methods> = {
  async echo(_params, { up, down }) {
    await pipeline(up.input, down.output, { end: false });
    return {};
  },
  async produce() {
    return {};
  },
  async ping() {
    return {};
  },
};

function connect(handlers: Partial<HandlersOf<Methods>> = {}): Channel<Methods> {
  new Channel(pair.far, { outgoing: {}, incoming: methods, handlers: { ...usual, ...handlers } });
  return new Channel(pair.near, { outgoing: methods });
}

async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Writes until the other side gives no more credit; resolves with how much went. */
async function fill(stream: Writable): Promise<number> {
  let sent = 0;
  const piece = Buffer.alloc(16 * 1024, 'x');
  while (stream.write(piece)) sent += piece.length;
  return sent + piece.length;
}

describe('streams', () => {
  it('carry every byte in order, both ways at once, whatever the sizes of the pieces', async () => {
    const call = connect().open('echo', {});
    const sent = randomBytes(3_000_001);
    const output = bytesOf(call.down.output);
    for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 7 + 3) % 200_000) {
      if (!call.up.input.write(sent.subarray(at, at + size))) await once(call.up.input, 'drain');
    }
    call.up.input.end();
    expect(hash(await output)).toBe(hash(sent));
    expect(await call.result).toEqual({});
  });

  it('that nobody reads are held back at their window, and hold back nobody else', async () => {
    let produced = 0;
    const channel = connect({
      async produce(_params, { signal, down }) {
        const piece = Buffer.alloc(16 * 1024);
        while (!signal.aborted) {
          produced += piece.length;
          if (!down.output.write(piece)) await Promise.race([once(down.output, 'drain'), once(signal, 'abort')]);
        }
        return {};
      },
    });
    const controller = new AbortController();
    const stalled = channel.open('produce', {}, { signal: controller.signal });
    stalled.result.catch(() => {});
    await vi.waitFor(() => expect(produced).toBeGreaterThan(WINDOW_BYTES));
    const other = channel.open('echo', {});
    other.up.input.end('through');
    expect(String(await bytesOf(other.down.output))).toBe('through');
    await channel.call('ping', {});
    expect(produced).toBeLessThan(WINDOW_BYTES + 256 * 1024);
    controller.abort(new Error('enough'));
    await expect(stalled.result).rejects.toThrow('enough');
  });

  it('that the handler does not read hold back the caller', async () => {
    const channel = connect({ echo: () => new Promise(() => {}) });
    const { up, result } = channel.open('echo', {});
    result.catch(() => {});
    expect(await fill(up.input)).toBeLessThan(WINDOW_BYTES);
    await channel.call('ping', {});
  });

  it('of many calls wait for a slow connection together, without a warning of too many who listen', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const channel = connect();
    // Nobody reads at the other end until all have written more than the kernel holds.
    pair.far.pause();
    const before = pair.near.listenerCount('drain');
    const sent = randomBytes(200_000);
    const echoed = Array.from({ length: 40 }, () => {
      const { up, down } = channel.open('echo', {});
      up.input.end(sent);
      return bytesOf(down.output);
    });
    await vi.waitFor(() => expect(pair.near.writableNeedDrain).toBe(true));
    expect(pair.near.listenerCount('drain')).toBe(before);
    pair.far.resume();
    for (const output of echoed) expect(hash(await output)).toBe(hash(sent));
    // Warnings come a turn later.
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('are all there when the result has come, however late they are read', async () => {
    const channel = connect({
      async produce(_params, { down }) {
        down.output.end(Buffer.alloc(200_000, 'y'));
        return {};
      },
    });
    const { result, down } = channel.open('produce', {});
    await result;
    expect((await bytesOf(down.output)).length).toBe(200_000);
  });

  it('that are cut by an error or a lost connection do not look complete', async () => {
    const channel = connect({
      async produce(_params, { down }) {
        down.output.write('half');
        throw new ProtocolError('IoError' as never, 'the disk broke');
      },
      echo: () => new Promise(() => {}),
    });
    const failing = channel.open('produce', {});
    const read = bytesOf(failing.down.output);
    await Promise.all([expect(failing.result).rejects.toThrow('the disk broke'), expect(read).rejects.toThrow()]);
    const lost = channel.open('echo', {});
    const nothingMore = bytesOf(lost.down.output);
    await channel.call('ping', {});
    pair.far.destroy();
    await Promise.all([expect(lost.result).rejects.toMatchObject({ code: 'Unavailable' }), expect(nothingMore).rejects.toThrow()]);
  });

  it('end the work when the connection is lost', async () => {
    let aborted: (reason: unknown) => void = () => {};
    const seen = new Promise((resolve) => {
      aborted = resolve;
    });
    const channel = connect({
      async produce(_params, { signal }) {
        await once(signal, 'abort');
        aborted(signal.reason);
        return {};
      },
    });
    channel.open('produce', {}).result.catch(() => {});
    await channel.call('ping', {});
    pair.near.destroy();
    expect(await seen).toMatchObject({ code: 'Unavailable' });
  });

  it('of a call that is only called are ended and thrown away', async () => {
    const channel = connect({
      async produce(_params, { down }) {
        down.output.end(Buffer.alloc(1_000_000));
        return {};
      },
    });
    expect(await channel.call('produce', {})).toEqual({});
    expect(await channel.call('echo', {})).toEqual({});
  });
});

describe('a peer that breaks the rules of streams', () => {
  const open = { id: 1, type: 'echo', params: {} };
  const frame = (more: object) => ({ id: 1, side: 'caller', stream: 'input', ...more });
  const piece = frame({ type: 'data', data: Buffer.alloc(64 * 1024).toString('base64') });
  it.each([
    { name: 'sends more than it has credit for', frames: [open, piece, piece, piece, piece, piece], reason: /credit/ },
    { name: 'gives more credit than was used', frames: [open, frame({ type: 'credit', stream: 'output', bytes: 1 })], reason: /credit/ },
    { name: 'names a stream there is not', frames: [open, frame({ type: 'eof', stream: 'constructor' })], reason: /no stream/ },
    { name: 'goes on after the end', frames: [open, frame({ type: 'eof' }), frame({ type: 'eof' })], reason: /end of the same stream/ },
    { name: 'streams before it calls', frames: [frame({ type: 'eof' })], reason: /never sent/ },
  ])('and $name is hung up on', async ({ frames, reason }) => {
    const handlers = { ...usual, echo: () => new Promise<never>(() => {}) };
    const channel = new Channel(pair.near, { outgoing: {}, incoming: methods, handlers });
    pair.far.resume();
    pair.far.write(Buffer.concat(frames.map(encodeFrame)));
    expect((await channel.closed).message).toMatch(reason);
  });
});
