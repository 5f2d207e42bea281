import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { numbersFrom } from '../websocket/client.fixture.ts';
import { DICTIONARY } from './dictionary.ts';
import { controlFrame, dataHead, FLAG_FIN, type SpdyFrame, SpdyFrameReader, TYPE, words } from './frames.ts';
import { formatHeaders, HeaderReader, HeaderWriter, parseHeaders } from './headers.ts';
import { type Carrier, SpdySession } from './session.ts';
import type { SpdyStream } from './stream.ts';

const WAIT = { timeout: 15_000, interval: 5 };

describe('the dictionary', () => {
  it('is the one that everybody has', () => {
    expect(DICTIONARY.length).toBe(1_423);
    expect(createHash('sha256').update(DICTIONARY).digest('hex')).toBe('51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02');
  });
});

describe('headers', () => {
  it('come out as they went in, block after block', async () => {
    const [writer, reader] = [new HeaderWriter(), new HeaderReader()];
    for (const headers of [
      {},
      { streamtype: 'data', port: '80', requestid: '0' },
      { streamtype: 'error', port: '80', requestid: '1' },
      {},
    ]) {
      expect({ ...(await reader.read(await writer.write(headers))) }).toEqual(headers);
    }
    writer.close();
    reader.close();
  });

  it('begin as those of other implementations do', async () => {
    const writer = new HeaderWriter();
    // The header of zlib that asks for the dictionary, by its checksum.
    expect((await writer.write({})).subarray(1, 6).toString('hex')).toBe('bbe3c6a7c2');
    writer.close();
  });

  it('that unpack to too much are refused', async () => {
    const [writer, reader] = [new HeaderWriter(), new HeaderReader()];
    const block = await writer.write({ long: 'x'.repeat(10_000_000) });
    expect(block.length).toBeLessThan(20_000);
    await expect(reader.read(block)).rejects.toThrow('more than 65536 bytes');
    await expect(reader.read(block)).rejects.toThrow();
    writer.close();
    reader.close();
  });

  it('that are none are refused', async () => {
    const reader = new HeaderReader();
    await expect(reader.read(Buffer.from('nonsense'))).rejects.toThrow();
    for (const block of [Buffer.alloc(0), words(1), words(1, 1_000_000), words(1_000_000), formatHeaders({ a: 'b' }).subarray(0, 12)]) {
      expect(() => parseHeaders(block)).toThrow(/header block/);
    }
  });
});

describe('frames', () => {
  it('are found wherever the bytes are cut', () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = numbersFrom(seed);
    const bytes = Buffer.concat([
      controlFrame(TYPE.ping, words(1)),
      dataHead(3, 100_000, false),
      Buffer.alloc(100_000, 7),
      dataHead(3, 0, true),
      controlFrame(TYPE.rstStream, words(3, 5)),
    ]);
    for (let round = 0; round < 50; round++) {
      const reader = new SpdyFrameReader();
      const found: SpdyFrame[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + random(round % 2 ? 9 : 60_000);
        found.push(...reader.push(bytes.subarray(at, end)));
        at = end;
      }
      const data = found.filter((frame) => frame.kind === 'data');
      expect(data.reduce((sum, frame) => sum + frame.bytes.length, 0)).toBe(100_000);
      expect(data.map(({ isFin }) => isFin).indexOf(true)).toBe(data.length - 1);
      expect(found.flatMap((frame) => (frame.kind === 'control' ? [frame.type] : []))).toEqual([TYPE.ping, TYPE.rstStream]);
    }
  });

  it('of another version, or too large to be meant, are refused', () => {
    expect(() => [...new SpdyFrameReader().push(words(0x80020001, 0))]).toThrow('SPDY/2');
    expect(() => [...new SpdyFrameReader().push(words(0x80030001, 100_000))]).toThrow('more than');
  });
});

/** A session whose client is the test. */
function session(onStream: (stream: SpdyStream) => void) {
  const input = new PassThrough();
  const sent: Buffer[] = [];
  let isClosed = false;
  let isFull = false;
  let drain = () => {};
  const carrier: Carrier = {
    chunks: () => input,
    send(...parts) {
      sent.push(Buffer.concat(parts));
      return !isFull;
    },
    drained: () => (isFull ? new Promise((resolve) => (drain = resolve)) : Promise.resolve()),
    close() {
      isClosed = true;
      input.end();
    },
  };
  const running = new SpdySession(carrier, onStream).run();
  const writer = new HeaderWriter();
  return {
    input,
    sent,
    running,
    isClosed: () => isClosed,
    setFull(full: boolean) {
      isFull = full;
      if (!full) drain();
    },
    async open(id: number, headers: Record<string, string>, flags = 0) {
      const frame = controlFrame(TYPE.synStream, words(id, 0), Buffer.alloc(2), await writer.write(headers));
      frame[4] = flags;
      input.write(frame);
    },
    frames: () => [...new SpdyFrameReader().push(Buffer.concat(sent))],
  };
}

describe('a session', () => {
  it('carries streams both ways, each end for itself', async () => {
    const streams: SpdyStream[] = [];
    const client = session((stream) => streams.push(stream));
    await client.open(1, { streamtype: 'error' }, FLAG_FIN);
    await client.open(3, { streamtype: 'data' });
    client.input.write(Buffer.concat([dataHead(3, 5, false), Buffer.from('hello'), dataHead(3, 0, true)]));
    await vi.waitFor(() => expect(streams).toHaveLength(2), WAIT);
    const [, data] = streams;
    let heard = '';
    data?.on('data', (bytes: Buffer) => {
      heard += bytes.toString();
    });
    await new Promise((resolve) => data?.on('end', resolve));
    data?.end('answer');
    await vi.waitFor(() => expect(data?.writableFinished).toBe(true), WAIT);
    expect([heard, data?.headers['streamtype']]).toEqual(['hello', 'data']);
    const sent = client.frames().filter((frame) => frame.kind === 'data');
    expect(sent.map(({ bytes, isFin }) => `${bytes.toString()}${isFin ? '.' : ''}`)).toEqual(['answer', '.']);
    client.input.end();
    await client.running;
  });

  it('answers pings, and passes over what it need not know', async () => {
    const client = session(() => {});
    client.input.write(
      Buffer.concat([controlFrame(TYPE.settings, words(0)), controlFrame(TYPE.windowUpdate, words(1, 1)), controlFrame(99)]),
    );
    client.input.write(controlFrame(TYPE.ping, words(7)));
    await vi.waitFor(() => expect(client.sent).toHaveLength(1), WAIT);
    expect(client.frames()).toEqual([{ kind: 'control', type: TYPE.ping, flags: 0, payload: words(7) }]);
    client.input.end();
    await client.running;
  });

  it('holds back a client whose stream is not read, and lets it go on when it is', async () => {
    const streams: SpdyStream[] = [];
    const client = session((stream) => streams.push(stream));
    await client.open(1, {});
    const frame = Buffer.concat([dataHead(1, 64 * 1024, false), Buffer.alloc(64 * 1024)]);
    for (let count = 0; count < 64; count++) client.input.write(frame);
    await vi.waitFor(() => expect(streams[0]?.readableLength).toBeGreaterThanOrEqual(256 * 1024), WAIT);
    await new Promise(setImmediate);
    expect(streams[0]?.readableLength).toBeLessThan(512 * 1024);
    expect(client.input.writableLength + client.input.readableLength).toBeGreaterThan(48 * 64 * 1024);
    let count = 0;
    streams[0]?.on('data', (bytes: Buffer) => {
      count += bytes.length;
    });
    await vi.waitFor(() => expect(count).toBe(64 * 64 * 1024), WAIT);
    client.input.end();
    await client.running;
  });

  it('waits with what it sends until the client takes it', async () => {
    const streams: SpdyStream[] = [];
    const client = session((stream) => streams.push(stream));
    await client.open(1, {});
    await vi.waitFor(() => expect(streams).toHaveLength(1), WAIT);
    client.setFull(true);
    const before = client.sent.length;
    streams[0]?.write(Buffer.alloc(1_000_000));
    await new Promise(setImmediate);
    expect(client.sent.length - before).toBe(1);
    client.setFull(false);
    await vi.waitFor(() => expect(streams[0]?.writableLength).toBe(0), WAIT);
    client.input.end();
    await client.running;
  });

  it('refuses more streams than there may be', async () => {
    let count = 0;
    const client = session(() => count++);
    for (let at = 0; at < 300; at++) await client.open(2 * at + 1, {});
    const refused = () => client.frames().filter((frame) => frame.kind === 'control' && frame.type === TYPE.rstStream);
    await vi.waitFor(() => expect(refused()).toHaveLength(44), WAIT);
    expect(count).toBe(256);
    client.input.end();
    await client.running;
  });

  it('ends with everything in it when the client goes, or says what is not SPDY', async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = numbersFrom(seed);
    for (let round = 0; round < 20; round++) {
      const streams: SpdyStream[] = [];
      const client = session((stream) => streams.push(stream));
      await client.open(1, {});
      await vi.waitFor(() => expect(streams).toHaveLength(1), WAIT);
      client.input.write(Buffer.from(Array.from({ length: 200 }, () => random(256))));
      client.input.write(words(0x80020001, 0));
      client.input.end();
      await client.running;
      expect([client.isClosed(), streams[0]?.destroyed]).toEqual([true, true]);
    }
  });

  it.each([
    ['an even stream', [2]],
    ['a stream that was', [3, 1]],
  ])('hangs up when the client opens %s', async (_, ids) => {
    const client = session(() => {});
    for (const id of ids) await client.open(id, {});
    await client.running;
    expect(client.frames().at(-1)).toMatchObject({ kind: 'control', type: TYPE.goAway });
  });
});
