import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import { httpConnection } from './http-connection.ts';
import { interruptible } from './interruptible.ts';

/** Takes every request and answers only when it is told to. */
const answers: (() => void)[] = [];
const server = createServer((_, response) => void answers.push(() => response.end('done')));
beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  answers.length = 0;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function open(signal: AbortSignal, graceMs: number) {
  const { port } = server.address() as AddressInfo;
  return interruptible(await httpConnection({ name: 'x', url: `http://127.0.0.1:${port}` }), signal, graceMs);
}

describe('interruptible', () => {
  it.each([
    { method: 'GET', graceMs: 3_600_000 },
    { method: 'POST', graceMs: 1 },
  ] as const)('ends a $method that nobody answers', async ({ method, graceMs }) => {
    const stopping = new AbortController();
    const connection = await open(stopping.signal, graceMs);
    const asking = connection.request({ method, path: '/' });
    await once(server, 'request');
    stopping.abort();
    await expect(asking).rejects.toThrow(UnavailableError);
    connection.close();
  });

  it('still waits for a write that is under way', async () => {
    const stopping = new AbortController();
    const connection = await open(stopping.signal, 3_600_000);
    const asking = connection.request({ method: 'POST', path: '/' });
    await once(server, 'request');
    stopping.abort();
    answers[0]?.();
    expect(await (await asking).text()).toBe('done');
    connection.close();
  });
});
