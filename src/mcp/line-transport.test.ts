import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { LineTransport } from './line-transport.ts';

const pairs: SocketPair[] = [];
afterEach(() => {
  for (const pair of pairs.splice(0)) pair.destroy();
});

async function stand(options: { maxBytes?: number } = {}) {
  const pair = await socketPair();
  pairs.push(pair);
  const transport = new LineTransport(pair.far, options);
  const messages: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void messages.push(message);
  let answers = '';
  pair.near.setEncoding('utf8').on('data', (text: string) => {
    answers += text;
  });
  await transport.start();
  const answered = () =>
    answers
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...pair, transport, messages, answered };
}

const ping = (id: number) => ({ jsonrpc: '2.0', method: 'ping', id });

describe('LineTransport', () => {
  it('passes messages both ways', async () => {
    const { near, transport, messages, answered } = await stand();
    near.write(`${JSON.stringify(ping(1))}\n`);
    await vi.waitFor(() => expect(messages).toEqual([ping(1)]));
    await transport.send({ jsonrpc: '2.0', id: 1, result: { text: 'ä\n' } });
    await vi.waitFor(() => expect(answered()).toEqual([{ jsonrpc: '2.0', id: 1, result: { text: 'ä\n' } }]));
  });

  it('passes what comes together, and what comes in pieces', async () => {
    const { near, messages } = await stand();
    const [first, ...rest] = JSON.stringify(ping(3));
    near.write(`${JSON.stringify(ping(1))}\n${JSON.stringify([ping(2)])}\n${first}`);
    await vi.waitFor(() => expect(messages).toHaveLength(2));
    near.write(`${rest.join('')}\n`);
    await vi.waitFor(() => expect(messages).toEqual([ping(1), ping(2), ping(3)]));
  });

  it.each([
    ['{', { id: null, error: { code: -32700, message: 'the line is not JSON' } }],
    ['7', { id: null, error: { code: -32600, message: 'a message must be an object' } }],
    ['[]', { id: null, error: { code: -32600 } }],
    ['{"id":4,"method":"ping"}', { id: 4, error: { code: -32600, message: 'jsonrpc must be "2.0"' } }],
  ])('refuses %s and goes on', async (line, want) => {
    const { near, messages, answered } = await stand();
    near.write(`${line}\n${JSON.stringify(ping(1))}\n`);
    await vi.waitFor(() => expect(messages).toEqual([ping(1)]));
    await vi.waitFor(() => expect(answered()).toMatchObject([want]));
  });

  it('refuses what is too large, to whoever sent it, and goes on', async () => {
    const { near, messages, answered } = await stand({ maxBytes: 1_000 });
    const large = { method: 'tools/call', params: { text: 'x'.repeat(5_000) }, jsonrpc: '2.0', id: 9 };
    near.write(`${JSON.stringify(large)}\n${JSON.stringify(ping(1))}\n`);
    await vi.waitFor(() => expect(messages).toEqual([ping(1)]));
    await vi.waitFor(() =>
      expect(answered()).toMatchObject([{ id: 9, error: { code: -32600, message: expect.stringContaining('at most') } }]),
    );
  });

  it('does not read from a client that does not read', async () => {
    const { near, far, transport, messages } = await stand();
    near.pause();
    const answer = { jsonrpc: '2.0' as const, id: 1, result: { text: 'x'.repeat(1_000_000) } };
    while (!far.writableNeedDrain) await transport.send(answer);
    near.write(`${JSON.stringify(ping(1))}\n`);
    await vi.waitFor(() => expect(messages).toEqual([ping(1)]));
    await vi.waitFor(() => expect(far.isPaused()).toBe(true));
    near.resume();
    await vi.waitFor(() => expect(far.isPaused()).toBe(false));
  });

  it('is closed once, by either side', async () => {
    for (const end of ['near', 'far'] as const) {
      const { near, transport } = await stand();
      const closed = vi.fn();
      transport.onclose = closed;
      if (end === 'near') near.end();
      else await transport.close();
      await vi.waitFor(() => expect(near.destroyed).toBe(true));
      await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
      await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
    }
  });
});
