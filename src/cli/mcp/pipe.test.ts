/** The pipe between a client and daemons that come and go on a real socket. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RpcMessage } from '#lib/json-rpc.ts';
import { intoOneBuffer } from './lent-bytes.ts';
import { type PipeOptions, runPipe } from './pipe.ts';

let home: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-pipe-'));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(home, { recursive: true, force: true });
});

/** Says what it heard; answers what it is told to. */
async function startDaemon({ isSilent = false } = {}) {
  const heard: RpcMessage[] = [];
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    let rest = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = JSON.parse(line) as RpcMessage;
        heard.push(message);
        if (message.id !== undefined && !isSilent)
          socket.write(`${JSON.stringify({ result: { to: message.method }, jsonrpc: '2.0', id: message.id })}\n`);
      }
    });
    socket.on('error', () => {});
  });
  rmSync(join(home, 'mcp.sock'), { force: true });
  server.listen(join(home, 'mcp.sock'));
  await once(server, 'listening');
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  ends.push(stop);
  return { heard, stop, say: (text: string | Buffer) => sockets.at(-1)?.write(text) };
}

function startClient(options: Partial<PipeOptions> = {}) {
  const input = new PassThrough();
  const interrupt = new AbortController();
  let said = '';
  const log: string[] = [];
  const end = runPipe({
    home,
    openInput: (onBytes) => input.on('data', onBytes),
    output: (lines) => {
      said += String(lines);
    },
    log: (text) => void log.push(text),
    whenAbsent: ({ code }) => `no daemon (${code})`,
    signal: interrupt.signal,
    ...options,
  });
  ends.push(() => interrupt.abort());
  const got = () =>
    said
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RpcMessage & { error?: { message: string } });
  return {
    end,
    got,
    log,
    input,
    interrupt,
    /** That the daemon is gone. */
    noticed: () => vi.waitFor(() => expect(log.at(-1)).toBe('the daemon ended; waiting for the next one')),
    said: () => said,
    send: (message: object) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    answered: (id: number | string) => vi.waitFor(() => got().find((message) => message.id === id) ?? missing(), { timeout: 5_000 }),
  };
}

function missing(): never {
  throw new Error('not answered yet');
}

const INITIALIZE = { id: 0, method: 'initialize', params: { clientInfo: { name: 'me' } } };
const INITIALIZED = { method: 'notifications/initialized' };

describe('runPipe', () => {
  it('passes lines both ways, and ends with the client', async () => {
    const daemon = await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    expect(await client.answered(0)).toMatchObject({ result: { to: 'initialize' } });
    daemon.say('{"jsonrpc":"2.0","method":"x","params":{"text":"ä"}}\n');
    await vi.waitFor(() => expect(client.said()).toContain('{"text":"ä"}'));
    client.input.end();
    expect(await client.end).toEqual({ wasServed: true });
    expect(client.log).toEqual([]);
  });

  it('waits for the answers to what was asked before the client ended', async () => {
    await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    client.send({ id: 1, method: 'tools/list' });
    client.input.end();
    await client.end;
    expect(client.got().map(({ id }) => id)).toEqual([0, 1]);
  });

  it('ends with a signal, whatever is on its way', async () => {
    await startDaemon({ isSilent: true });
    const client = startClient();
    client.send(INITIALIZE);
    client.interrupt.abort();
    await client.end;
    expect(client.said()).toBe('');
  });

  it('says in one sentence that there is no daemon', async () => {
    const client = startClient();
    client.send(INITIALIZE);
    expect(await client.answered(0)).toMatchObject({ error: { code: -32000, message: 'no daemon (ENOENT)' } });
    client.input.end();
    expect(await client.end).toEqual({ wasServed: false });
    expect(client.log).toEqual(['no daemon (ENOENT)']);
  });

  it('answers a client that ended before it was known that there is no daemon', async () => {
    const client = startClient();
    client.send(INITIALIZE);
    client.input.end();
    expect(await client.end).toEqual({ wasServed: false });
    expect(client.got()).toMatchObject([{ id: 0, error: { message: 'no daemon (ENOENT)' } }]);
  });

  it('serves a client that came before its daemon', async () => {
    const client = startClient();
    client.send(INITIALIZE);
    await client.answered(0);
    const { heard } = await startDaemon();
    await vi.waitFor(
      async () => {
        client.send({ id: 5, method: 'initialize' });
        await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0), { timeout: 300 });
      },
      { timeout: 5_000 },
    );
  });

  it('goes on with the next daemon as if there had been one', async () => {
    const first = await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    client.send(INITIALIZED);
    client.send({ id: 1, method: 'resources/subscribe', params: { uri: 'a://b' } });
    await client.answered(1);
    first.stop();
    await client.noticed();
    const second = await startDaemon();
    client.send({ id: 2, method: 'tools/list' });
    expect(await client.answered(2)).toMatchObject({ result: { to: 'tools/list' } });
    expect(second.heard.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
      'resources/subscribe',
      'tools/list',
    ]);
    expect(second.heard[0]).toMatchObject({ params: INITIALIZE.params });
    // The answers to what it said by itself are for nobody; what may have changed is told as changed.
    expect(client.got().map(({ id, method }) => id ?? method)).toEqual([
      0,
      1,
      'notifications/resources/list_changed',
      'notifications/resources/updated',
      2,
    ]);
  });

  it('answers what was on its way when the daemon went', async () => {
    const first = await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    await client.answered(0);
    first.stop();
    await client.noticed();
    const silent = await startDaemon({ isSilent: true });
    client.send({ id: 'slow', method: 'tools/call' });
    await vi.waitFor(() => expect(silent.heard.map(({ method }) => method)).toContain('tools/call'), { timeout: 5_000 });
    silent.stop();
    expect(await client.answered('slow')).toMatchObject({
      error: { code: -32000, message: expect.stringMatching(/restarted.*ask again/) },
    });
  });

  it('does not pass on half a line', async () => {
    const daemon = await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    await client.answered(0);
    daemon.say('{"result":{"half":');
    daemon.stop();
    await client.noticed();
    expect(client.got()).toHaveLength(1);
  });

  it('answers once what the daemon had begun to answer, and nothing of that stands before the next message', async () => {
    const daemon = await startDaemon({ isSilent: true });
    const client = startClient();
    client.send({ id: 1, method: 'tools/call' });
    await vi.waitFor(() => expect(daemon.heard).toHaveLength(1));
    daemon.say('{"jsonrpc":"2.0","method":"first"}\n{"result":{"half":"ä');
    await vi.waitFor(() => expect(client.said()).not.toBe(''));
    daemon.stop();
    await client.noticed();
    await startDaemon();
    client.send({ id: 2, method: 'tools/list' });
    await client.answered(2);
    expect(client.got()).toMatchObject([{ method: 'first' }, { id: 1, error: {} }, { id: 2, result: {} }]);
  });

  it('passes the same lines on however they are cut', async () => {
    const daemon = await startDaemon({ isSilent: true });
    const lines = [
      '{"jsonrpc":"2.0","method":"ä"}\n',
      '{"jsonrpc":"2.0","method":"𝄞","params":{}}\n',
      '{"jsonrpc":"2.0","id":1,"method":"c"}\n',
    ];
    const bytes = Buffer.from(lines.join(''));
    const client = startClient();
    client.send(INITIALIZE);
    await vi.waitFor(() => expect(daemon.heard.splice(0)).toHaveLength(1));
    for (let cut = 0; cut <= bytes.length; cut++) {
      for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) if (part.length > 0) client.input.write(part);
    }
    await vi.waitFor(() => expect(daemon.heard).toHaveLength(lines.length * (bytes.length + 1)));
    expect(new Set(daemon.heard.map(({ method }) => method))).toEqual(new Set(['ä', '𝄞', 'c']));
    let passed = '';
    for (let cut = 0; cut <= bytes.length; cut++) {
      daemon.say(bytes.subarray(0, cut));
      // So that what is said next comes by itself.
      passed += lines.filter((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')) <= cut).join('');
      await vi.waitFor(() => expect(client.said()).toBe(passed), { interval: 1 });
      daemon.say(bytes.subarray(cut));
      passed = lines.join('').repeat(cut + 1);
      await vi.waitFor(() => expect(client.said()).toBe(passed), { interval: 1 });
    }
  });

  it('keeps its own answers back when others come with them', async () => {
    const first = await startDaemon();
    const client = startClient();
    client.send(INITIALIZE);
    await client.answered(0);
    first.stop();
    await client.noticed();
    const second = await startDaemon({ isSilent: true });
    await vi.waitFor(() => expect(second.heard).toHaveLength(1), { timeout: 5_000 });
    const own = JSON.stringify({ result: {}, jsonrpc: '2.0', id: second.heard[0]?.id });
    second.say(`{"jsonrpc":"2.0","method":"before"}\n${own}\n{"jsonrpc":"2.0","method":"after"}\n`);
    await vi.waitFor(() => expect(client.got().map(({ id, method }) => id ?? method)).toContain('after'));
    expect(client.got().map(({ id, method }) => id ?? method)).toEqual([0, 'notifications/resources/list_changed', 'before', 'after']);
  });

  it('reads no more from the client than the daemon takes, and mixes nothing up', async () => {
    const server = createServer();
    server.listen(join(home, 'mcp.sock'));
    await once(server, 'listening');
    const doors = createServer();
    doors.listen(join(home, 'client.sock'));
    await once(doors, 'listening');
    const writing = once(doors, 'connection') as Promise<[Socket]>;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    // Read as standard input is: into one buffer.
    let input: Socket | undefined;
    startClient({
      openInput(onBytes) {
        input = connect({ path: join(home, 'client.sock'), onread: intoOneBuffer(onBytes) });
        return input;
      },
    });
    const [[client], [daemon]] = await Promise.all([writing, accepted]);
    ends.push(() => {
      for (const each of [client, daemon]) each.destroy();
      for (const each of [server, doors]) each.close();
    });
    daemon.pause();
    // As long as each other, so that most reads are whole lines; some are not.
    const sent = Array.from({ length: 4_000 }, (_, index) => `${JSON.stringify({ jsonrpc: '2.0', method: `${index}` }).padEnd(1_023)}\n`);
    for (const [index, line] of sent.entries()) {
      const cut = index % 100 === 0 ? 500 : 0;
      client.write(line.slice(0, cut));
      client.write(line.slice(cut));
    }
    await vi.waitFor(() => expect(input?.isPaused()).toBe(true));
    let heard = '';
    daemon.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    daemon.resume();
    await vi.waitFor(() => expect(heard.length).toBe(sent.join('').length), { timeout: 5_000 });
    expect(heard === sent.join('')).toBe(true);
  });

  it('holds requests for the next daemon, but not for ever', async () => {
    const daemon = await startDaemon();
    const client = startClient({ holdMs: 200 });
    client.send(INITIALIZE);
    await client.answered(0);
    daemon.stop();
    await client.noticed();
    client.send({ id: 1, method: 'tools/list' });
    expect(await client.answered(1)).toMatchObject({ error: { message: 'no daemon (ECONNRESET)' } });
    client.send({ id: 2, method: 'tools/list' });
    expect(await client.answered(2)).toMatchObject({ error: { message: 'no daemon (ECONNRESET)' } });
    await startDaemon();
    await vi.waitFor(() => expect(client.log.at(-1)).toBe('the daemon is back'), { timeout: 5_000 });
    client.send({ id: 3, method: 'tools/list' });
    expect(await client.answered(3)).toMatchObject({ result: { to: 'tools/list' } });
  });

  it('refuses what is too large, and goes on', async () => {
    await startDaemon();
    const client = startClient();
    client.send({ id: 8, method: 'tools/call', params: { text: 'x'.repeat(5 * 1024 * 1024) } });
    expect(await client.answered(8)).toMatchObject({ error: { code: -32600 } });
    client.send(INITIALIZE);
    expect(await client.answered(0)).toMatchObject({ result: {} });
  });
});
