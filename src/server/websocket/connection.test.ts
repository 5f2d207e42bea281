import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { frameHead, OPCODE } from '#lib/websocket/frames.ts';
import { socketPair } from '../../../test/support/socket-pair.ts';
import { clientFrame } from './client.fixture.ts';
import { WebSocketConnection } from './connection.ts';

async function collected(connection: WebSocketConnection): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of connection.messages()) texts.push(message.toString());
  return texts;
}

/** Until the server hangs up. */
async function everythingFrom(client: Socket): Promise<Buffer> {
  const heard: Buffer[] = [];
  client.on('data', (bytes: Buffer) => heard.push(bytes));
  await once(client, 'end');
  return Buffer.concat(heard);
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

describe('a WebSocket', () => {
  it('puts the pieces of messages together, with pings in between', async () => {
    const { near: client, far: server } = await socketPair();
    const connection = new WebSocketConnection(server, clientFrame(OPCODE.text, Buffer.from('first')));
    const heard = everythingFrom(client);
    client.write(clientFrame(OPCODE.binary, Buffer.from('sec'), { isLast: false }));
    client.write(clientFrame(OPCODE.ping, Buffer.from('there?')));
    client.write(clientFrame(OPCODE.continuation, Buffer.from('ond')));
    client.write(clientFrame(OPCODE.close, Buffer.from([0x03, 0xe8])));
    expect(await collected(connection)).toEqual(['first', 'second']);
    await closed(server);
    expect((await heard).toString('latin1')).toBe('\x8a\x06there?\x88\x02\x03\xe8');
  });

  it.each([
    ['a piece of nothing', clientFrame(OPCODE.continuation, Buffer.from('x')), 1002],
    [
      'a message inside of another',
      Buffer.concat([clientFrame(2, Buffer.from('x'), { isLast: false }), clientFrame(2, Buffer.from('y'))]),
      1002,
    ],
    [
      'a message in too many pieces',
      Buffer.concat([
        clientFrame(2, Buffer.alloc(0), { isLast: false }),
        ...Array.from({ length: 1_100 }, () => clientFrame(0, Buffer.alloc(0), { isLast: false })),
      ]),
      1009,
    ],
    ['no frame at all', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 1002],
  ])('hangs up on %s, and says why', async (_, bytes, code) => {
    const { near: client, far: server } = await socketPair();
    const connection = new WebSocketConnection(server, Buffer.alloc(0));
    const hearing = everythingFrom(client);
    client.write(bytes);
    client.on('end', () => client.end());
    expect(await collected(connection)).toEqual([]);
    await closed(server);
    const heard = await hearing;
    expect([heard[0], heard.readUInt16BE(2)]).toEqual([0x88, code]);
  });

  it('answers only the last ping of a client that does not read', async () => {
    const { near: client, far: server } = await socketPair();
    const connection = new WebSocketConnection(server, Buffer.alloc(0));
    const messages = connection.messages();
    // More than the socket takes for a client that does not read.
    const payload = Buffer.alloc(4_000_000);
    expect(connection.send(payload)).toBe(false);
    for (let count = 0; count < 1_000; count++) client.write(clientFrame(OPCODE.ping, Buffer.from(`ping ${count}`)));
    client.write(clientFrame(OPCODE.binary, Buffer.from('behind all pings')));
    // Then the server has not only read all of them but answered them as well, as far as it ever will.
    expect(String((await messages.next()).value)).toBe('behind all pings');
    expect(server.writableLength).toBeLessThan(payload.length + 100);
    const next = messages.next();
    const heard: Buffer[] = [];
    const hasHeard = (word: string) =>
      new Promise<void>((resolve) => {
        client.on('data', (bytes: Buffer) => {
          heard.push(bytes);
          if (Buffer.concat(heard.slice(-2)).includes(word)) resolve();
        });
      });
    await hasHeard('ping 999');
    client.removeAllListeners('data');
    client.write(clientFrame(OPCODE.ping, Buffer.from('once more')));
    await hasHeard('once more');
    const behind = Buffer.concat(heard).subarray(frameHead(OPCODE.binary, payload.length).length + payload.length);
    // The server's own pings are nobody's answers.
    expect(behind.toString('latin1').replaceAll('\x89\x00', '')).toBe('\x8a\x08ping 999\x8a\x09once more');
    client.destroy();
    expect(await next).toMatchObject({ done: true });
  });

  it('holds back a client whose messages are not taken', async () => {
    const { near: client, far: server } = await socketPair();
    const connection = new WebSocketConnection(server, Buffer.alloc(0));
    const messages = connection.messages();
    const frame = clientFrame(OPCODE.binary, Buffer.alloc(64 * 1024));
    for (let count = 0; count < 200; count++) client.write(frame);
    expect((await messages.next()).value?.length).toBe(64 * 1024);
    // The rest waits where it came from: what the kernel holds of it is not ours.
    const before = server.bytesRead;
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(server.bytesRead - before).toBeLessThan(256 * 1024);
    expect(client.writableLength).toBeGreaterThan(100 * 64 * 1024);
    client.destroy();
  });
});
