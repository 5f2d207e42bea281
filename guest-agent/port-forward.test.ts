import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';

let bundle: GuestBundle;
let guest: RunningGuest;
let server: Server | undefined;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
});

afterEach(() => void server?.close());

async function listen(host: string, onSocket: (socket: Socket) => void): Promise<number> {
  server = createServer({ allowHalfOpen: true }, onSocket);
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('portForward', () => {
  it.each(['127.0.0.1', '::1'])('carries bytes both ways to what listens on %s, each direction to its own end', async (host) => {
    const port = await listen(host, (socket) => {
      // Answers only after the end of the question.
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('end', () => socket.end(`${bytes} bytes came`));
    });
    const { up, down, result } = guest.client.open('portForward', { port });
    up.data.end(Buffer.alloc(1_000_000));
    expect(await text(down.data)).toBe('1000000 bytes came');
    expect(await result).toEqual({});
  });

  it('passes on the end of the service while the client still talks', async () => {
    const heard: Promise<string>[] = [];
    const port = await listen('127.0.0.1', (socket) => {
      socket.end('goodbye');
      heard.push(text(socket));
    });
    const { up, down, result } = guest.client.open('portForward', { port });
    expect(await text(down.data)).toBe('goodbye');
    up.data.end('one more thing');
    expect(await result).toEqual({});
    expect(await heard[0]).toBe('one more thing');
  });

  it('closes the connection inside when the caller gives up', async () => {
    const closed: Promise<unknown>[] = [];
    const port = await listen('127.0.0.1', (socket) => {
      closed.push(Promise.race([once(socket, 'end'), once(socket, 'close')]));
      socket.on('error', () => {});
      socket.resume();
      socket.write('hello');
    });
    const controller = new AbortController();
    const { down, result } = guest.client.open('portForward', { port }, { signal: controller.signal });
    await once(down.data, 'data');
    controller.abort(new Error('enough'));
    await expect(result).rejects.toThrowError('enough');
    await closed[0];
  });

  it('says when nothing listens', async () => {
    const port = await listen('127.0.0.1', () => {});
    server?.close();
    const { result } = guest.client.open('portForward', { port });
    await expect(result).rejects.toMatchObject({ code: 'Unavailable', message: `nothing listens on port ${port} in the workspace` });
  });

  it('says when the service breaks off', async () => {
    const port = await listen('127.0.0.1', (socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { up, result } = guest.client.open('portForward', { port });
    up.data.write('x');
    await expect(result).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining(`port ${port}`) });
  });
});
