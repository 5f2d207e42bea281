/** Against a real socket, which answers as the program does that has the vsock of a machine, or as nobody should. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WaitingError } from '#lib/errors.ts';
import { askForPort } from './vsock-port.ts';

const { signal } = new AbortController();
let directory: string;
let server: Server | undefined;
let accepted: Socket[];
const path = () => join(directory, 'vsock.sock');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agentiso-dial-vsock-'));
  accepted = [];
});

afterEach(async () => {
  for (const socket of accepted) socket.destroy();
  server?.close();
  await rm(directory, { recursive: true });
});

/** `answer` is given each connection and what was asked on it. */
async function serve(answer: (socket: Socket, asked: string) => void): Promise<void> {
  server = createServer((socket) => {
    accepted.push(socket.on('error', () => {}));
    socket.once('data', (chunk) => answer(socket, String(chunk)));
  });
  server.listen(path());
  await once(server, 'listening');
}

async function ask(given: AbortSignal = signal) {
  const socket = connect(path());
  await once(socket, 'connect');
  return askForPort(socket, 'control', given);
}

async function dial(): Promise<Socket> {
  return (await ask()).connected;
}

async function inPieces(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
}

async function heard(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  while (text.length < bytes) await once(socket, 'data');
  return text;
}

describe('a connection to a port of a guest', () => {
  it('is the guest from the first byte after the answer on, in whatever pieces that comes', async () => {
    const asked: string[] = [];
    await serve((socket, text) => {
      asked.push(text);
      socket.on('data', (chunk) => socket.write(chunk));
      void inPieces(socket, ['O', 'K 12', '34', '\nhel', 'lo']);
    });
    const socket = await dial();
    expect(asked).toEqual(['CONNECT 5000\n']);
    const text = heard(socket, 11);
    socket.write(' again');
    expect(await text).toBe('hello again');
    const whole = await dial();
    expect(await heard(whole, 5)).toBe('hello');
    for (const each of [socket, whole]) each.destroy();
  });

  it('keeps what comes with the answer for whoever reads later', async () => {
    await serve((socket) => socket.write('OK 1\nthe guest spoke first\n'));
    const socket = await dial();
    await new Promise(setImmediate);
    expect(await heard(socket, 22)).toBe('the guest spoke first\n');
    socket.destroy();
  });

  it('is to be tried again while the guest does not listen', async () => {
    await serve((socket) => socket.end());
    await expect(dial()).rejects.toBeInstanceOf(WaitingError);
    server?.removeAllListeners('connection').on('connection', (socket: Socket) => socket.destroy());
    await expect(dial()).rejects.toBeInstanceOf(WaitingError);
  });

  it.each(['no\n', 'OK\n', 'OK x\n', 'ERR 5\n', 'OK 1', '\n', 'x'.repeat(100), `OK ${'1'.repeat(100)}`])(
    'is none where the answer is %j',
    async (answer) => {
      await serve((socket) => socket.end(answer));
      const refusal = await dial().catch((error: unknown) => error);
      if (answer === 'OK 1') expect(refusal).toBeInstanceOf(WaitingError);
      else expect(refusal).toMatchObject({ code: 'IoError', message: expect.stringContaining('not an answer') });
    },
  );

  it('is given up at once, and hung up when it was answered: whoever answers must not find nobody there', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await serve(() => asked());
    const given = new AbortController();
    const { connected, answered } = await ask(given.signal);
    await isAsked;
    given.abort(new Error('no more'));
    await expect(connected).rejects.toThrow('no more');
    const [slow] = accepted as [Socket];
    let isOver = false;
    slow.once('end', () => {
      isOver = true;
    });
    // Longer than a hang-up would take.
    for (let round = 0; round < 20; round++) await new Promise(setImmediate);
    expect(isOver).toBe(false);
    const over = once(slow, 'end');
    slow.write('OK 1\n');
    await answered;
    await over;
  });

  it('is none for somebody who has given up before', async () => {
    await serve((socket) => socket.write('OK 1\n'));
    const { connected, answered } = await ask(AbortSignal.abort(new Error('no more')));
    await expect(connected).rejects.toThrow('no more');
    await answered;
  });
});
