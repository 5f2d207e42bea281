import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { socketPair } from '../../../test/support/socket-pair.ts';
import { ClientSocket } from './socket.ts';

async function opened() {
  const { near, far: server } = await socketPair();
  return { near, server, client: new ClientSocket(near, Buffer.alloc(0), 'v5.channel.k8s.io') };
}

async function collected(client: ClientSocket): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of client.messages()) texts.push(message.toString());
  return texts;
}

describe('a WebSocket of a client', () => {
  it('gives whole messages, answers pings, and ends with the server', async () => {
    const { server, client } = await opened();
    const heard = buffer(server);
    server.write(Buffer.from('\x02\x03sec\x89\x01?\x80\x03ond\x88\x02\x03\xe8', 'latin1'));
    expect(await collected(client)).toEqual(['second']);
    const answers = await heard;
    expect([answers[0], answers[7]]).toEqual([0x8a, 0x88]);
  });

  it('ends where the connection breaks', async () => {
    const { server, client } = await opened();
    server.write(Buffer.from('\x82\x05whole\x82\x05hal', 'latin1'), () => server.destroy());
    expect(await collected(client)).toEqual(['whole']);
  });

  it.each([
    ['a mask', '8281'],
    ['an extension', 'c200'],
    ['more than there ever is', '827f00000000ffffffff'],
  ])('fails on %s, and hangs up', async (_, hex) => {
    const { near, server, client } = await opened();
    server.write(Buffer.from(hex, 'hex'));
    await expect(collected(client)).rejects.toThrow('the server does not speak WebSocket as it should: a frame ');
    expect(near.destroyed).toBe(true);
    server.destroy();
  });

  it('listens once to a server that does not read, however much waits for it', async () => {
    const { near, server, client } = await opened();
    const listeners = () => near.listenerCount('drain') + near.listenerCount('close');
    const before = listeners();
    const waiting = Array.from({ length: 40 }, () => client.send(Buffer.alloc(100_000)));
    expect(listeners() - before).toBeLessThanOrEqual(2);
    server.resume();
    await Promise.all(waiting);
    expect(listeners()).toBe(before);
    near.destroy();
    server.destroy();
  });
});
