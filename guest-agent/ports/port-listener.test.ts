import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HostPort } from '#guest/host-port.ts';
import { Channel } from '#protocol/channel.ts';
import { method } from '#protocol/method.ts';
import { object, text } from '#protocol/shape.ts';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { keepReading, openPort, type PipeHandle, ThreadedPort } from './open-port.ts';
import { PortListener } from './port-listener.ts';

const METHODS = { echo: method(object({ words: text }), object({ words: text })) };
const { signal } = new AbortController();
let listener: PortListener | undefined;
let pairs: SocketPair[] = [];

afterEach(() => {
  listener?.close();
  for (const pair of pairs) pair.destroy();
  pairs = [];
});

/** A port whose host end can be taken away and given anew, as QEMU does. */
function openListener(open: (path: string) => Duplex, served: Duplex[] = []): PortListener {
  listener = new PortListener({
    path: '/dev/virtio-ports/agentiso.control',
    open,
    report: () => {},
    serve(stream) {
      served.push(stream);
      new Channel(stream, { outgoing: {}, incoming: METHODS, handlers: { echo: async ({ words }) => ({ words }) } });
    },
  });
  return listener;
}

async function newPair(): Promise<SocketPair> {
  const pair = await socketPair();
  pairs.push(pair);
  return pair;
}

/** What comes while it is not open is lost. */
class ReopenedPort extends Duplex {
  readonly #far: Socket;

  constructor(far: Socket) {
    super({ allowHalfOpen: false });
    this.#far = far.on('data', this.#take);
  }

  readonly #take = (chunk: Buffer): void => void (this.readableEnded || this.push(chunk));

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#far.write(chunk, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#far.off('data', this.#take);
    done(error);
  }
}

const dialPort = (carrier: Duplex, given: AbortSignal) => new HostPort(carrier).connect(given);

async function say(stream: Duplex, words: string): Promise<string> {
  return (await new Channel(stream, { outgoing: METHODS }).call('echo', { words }, { deadlineMs: 5_000 })).words;
}

describe('a port', () => {
  it('carries one connection after the other, and the older one has ended', async () => {
    const { near, far } = await newPair();
    const served: Duplex[] = [];
    openListener(() => far, served);
    const host = new HostPort(near);
    const first = await host.connect(signal);
    expect(await say(first, 'ü'.repeat(100_000))).toBe('ü'.repeat(100_000));
    const closed = once(served[0] as Duplex, 'close');
    // The same carrier, and in the middle of a frame: as when QEMU is left by one daemon and found by another before the guest knew.
    near.write(Buffer.from([0, 0, 1, 0, 0x7b]));
    const second = await host.connect(signal);
    await closed;
    expect(await say(second, 'second')).toBe('second');
    expect(listener?.connections).toBe(1);
  });

  it('is heard although everything that came first was lost', async () => {
    const { near, far } = await newPair();
    const dialled = dialPort(near, signal);
    await once(far, 'data');
    openListener(() => far);
    expect(await say(await dialled, 'late')).toBe('late');
  });

  it('gives nothing to a new connection of what was meant for the one before', async () => {
    const { near, far } = await newPair();
    // What a guest had said to a host that hung up.
    far.write(Buffer.concat([Buffer.from([0, 0, 0, 5]), Buffer.from('{"a":')]));
    openListener(() => far);
    expect(await say(await dialPort(near, signal), 'clean')).toBe('clean');
  });

  it('is opened again when the host hung up, also when that fails at first', async () => {
    const [first, second] = [await newPair(), await newPair()];
    const carriers: (Socket | Error)[] = [first.far, new Error('EBUSY'), second.far];
    openListener(() => {
      const next = carriers.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error('no more');
      return next;
    });
    expect(await say(await dialPort(first.near, signal), 'one')).toBe('one');
    first.near.destroy();
    expect(await say(await dialPort(second.near, signal), 'two')).toBe('two');
  });

  it('says at once that it has lost a connection when it was opened again under it', async () => {
    const { near, far } = await newPair();
    // The port of one machine: each time it is opened it reads on with what comes from then on.
    const opened: ReopenedPort[] = [];
    openListener(() => {
      const port = new ReopenedPort(far);
      opened.push(port);
      return port;
    });
    const host = new HostPort(near);
    const channel = new Channel(await host.connect(signal), { outgoing: METHODS });
    // The end of the host before is heard after this one was answered, and what this one says is lost.
    opened[0]?.push(null);
    await expect(channel.call('echo', { words: 'lost' })).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await say(await host.connect(signal), 'heard')).toBe('heard');
    expect(opened).toHaveLength(2);
  });

  it('says that a connection has ended to the other end, and keeps the port', async () => {
    const { near, far } = await newPair();
    const served: Duplex[] = [];
    openListener(() => far, served);
    const stream = await dialPort(near, signal);
    stream.resume();
    const ended = once(stream, 'end');
    served[0]?.end();
    await ended;
    expect(far.destroyed).toBe(false);
    stream.destroy();
    expect(near.destroyed).toBe(false);
  });

  it('rejects when nobody answers in time, and when the machine goes away', async () => {
    const { near } = await newPair();
    await expect(dialPort(near, AbortSignal.timeout(120))).rejects.toMatchObject({ name: 'TimeoutError' });
    const gone = await newPair();
    const dialled = dialPort(gone.near, signal);
    gone.far.destroy();
    await expect(dialled).rejects.toMatchObject({ reason: 'MachineHungUp' });
  });
});

describe('openPort', () => {
  it('stays open when the host has hung up, and says so', async () => {
    const { near, far } = await newPair();
    keepReading(far, (far as unknown as { readonly _handle: PipeHandle })._handle);
    const ended = vi.fn();
    far.on('end', ended).on('close', ended);
    const [first] = (await Promise.all([once(far, 'data'), near.write('words')]))[0];
    expect(String(first)).toBe('words');
    const hungUp = once(far, 'hangup');
    near.end();
    await hungUp;
    expect(ended).not.toHaveBeenCalled();
    expect(far.writable).toBe(true);
    const closed = once(far, 'close');
    far.destroy();
    await closed;
  });

  // What is written to a pipe that is open in both directions comes back: as near to a port as a file system has it.
  it.each([
    ['by its handle', openPort],
    ['by threads', (path: string) => new ThreadedPort(openSync(path, constants.O_RDWR))],
  ])('reads and writes %s', async (_, open) => {
    const directory = await mkdtemp(join(tmpdir(), 'agentiso-port-'));
    const path = join(directory, 'port');
    execFileSync('mkfifo', [path]);
    const stream = open(path);
    try {
      const received = once(stream, 'data');
      stream.write('there and back');
      expect(String((await received)[0])).toBe('there and back');
    } finally {
      // A thread that waits ends with its next byte.
      stream.write('last');
      stream.destroy();
      await rm(directory, { recursive: true });
    }
  });
});
