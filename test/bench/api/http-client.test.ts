import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checked, HttpClient } from './http-client.ts';
import { formatRequest } from './response.ts';

let dir = '';
let server: Server;
let client: HttpClient;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bench-client-'));
  server = createServer((request, response) => {
    if (request.url === '/gone') response.destroy();
    else if (request.url === '/refused') response.writeHead(409).end('{"reason":"Conflict"}');
    else {
      const body = request.url === '/large' ? 'x'.repeat(3_000_000) : (request.url ?? '');
      response.writeHead(200, { 'Content-Length': body.length }).end(body);
    }
  });
  await once(server.listen(join(dir, 's')), 'listening');
  client = await HttpClient.connect(join(dir, 's'));
});

afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(dir, { recursive: true });
});

const get = (path: string) => client.exchange(formatRequest({ method: 'GET', path }));

describe('HttpClient', () => {
  it('answers one request after the other on one connection, however many pieces an answer has', async () => {
    expect((await get('/one')).body().toString()).toBe('/one');
    const large = await get('/large');
    expect([large.status, large.length, large.body().length]).toEqual([200, 3_000_000, 3_000_000]);
    expect((await get('/two')).body().toString()).toBe('/two');
  });

  it('fails when the server goes away, and when it answers without a length', async () => {
    await expect(get('/refused')).rejects.toThrow('unknown length with status 409');
    const other = await HttpClient.connect(join(dir, 's'));
    await expect(other.exchange(formatRequest({ method: 'GET', path: '/gone' }))).rejects.toThrow('closed the connection');
  });

  it('has no patience with refusals', () => {
    const reply = { status: 409, length: 2, body: () => Buffer.from('no') };
    expect(() => checked(reply)).toThrow('answered 409: no');
    expect(checked({ ...reply, status: 201 }).length).toBe(2);
  });
});
