/** Many watches, slow watches, and what becomes of watches when the daemon stops. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { answersIn, rawConnection } from '../support/api-raw.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const WAIT = { timeout: 30_000, interval: 50 };
const MIB = 1024 * 1024;

const create = (api: ApiClient, name: string, data: Record<string, string> = {}) =>
  api.call('POST', PATH, { body: { metadata: { name }, data } });

async function patch(api: ApiClient, name: string, data: Record<string, string>): Promise<string> {
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const answer = await api.call('PATCH', `${PATH}/${name}`, { body: { data }, headers });
  expect(answer.status, answer.text).toBe(200);
  return (answer.json() as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

async function openWatches(api: ApiClient): Promise<number> {
  return Number(/^agentiso_api_watches (\d+)/m.exec((await api.call('GET', '/metrics')).text)?.[1]);
}

function residentBytes(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

describe('watches', () => {
  const { folder, remove } = temporaryFolder();
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon(join(folder, 'home'));
  });
  afterAll(async () => {
    const { code, stderr } = await daemon.stop();
    remove();
    expect([code, stderr]).toEqual([0, '']);
  });

  it('of a thousand clients all see one event, and leave nothing behind', async () => {
    const { api } = daemon;
    const { metadata } = (await api.call('GET', PATH)).json() as { metadata: { resourceVersion: string } };
    const path = `${PATH}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const local = apiClient({ socketPath: join(daemon.home, 'agentiso.sock') });
    const watches = [];
    for (let count = 0; count < 1_000; count += 100) {
      const client = count === 0 ? api : local;
      watches.push(...(await Promise.all(Array.from({ length: 100 }, () => client.watch(path)))));
    }
    expect(await openWatches(api)).toBe(1_000);
    expect((await create(api, 'seen')).status).toBe(201);
    await Promise.all(watches.map((watch) => watch.next(({ type, object }) => type === 'ADDED' && object.metadata.name === 'seen')));
    for (const watch of watches) watch.stop();
    local.close();
    await vi.waitFor(async () => expect(await openWatches(api)).toBe(0), WAIT);
  });

  it('that nobody reads cost bounded memory, disturb nobody, and go on where they were', async () => {
    const { api } = daemon;
    await create(api, 'busy');
    await create(api, 'end');
    const { metadata } = (await api.call('GET', PATH)).json() as { metadata: { resourceVersion: string } };
    const path = `${PATH}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const slow = await Promise.all(Array.from({ length: 10 }, () => rawConnection(daemon.server)));
    for (const { socket, send } of slow) {
      send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.server.token}\r\n\r\n`);
      await once(socket, 'data');
      socket.pause();
    }
    const quick = await api.watch(path);
    const before = residentBytes(daemon.run.child.pid);
    const size = 200_000;
    const rounds = 150;
    let last = '';
    for (let round = 0; round < rounds; round++) last = await patch(api, 'busy', { text: `${round}:${'x'.repeat(size)}` });
    await quick.next(({ object }) => object.metadata.resourceVersion === last);
    expect(quick.events.filter(({ object }) => object.metadata.name === 'busy')).toHaveLength(rounds);
    // 30 MB are for each of the ten; kept for all of them, that would be 300 besides what is stored.
    expect((residentBytes(daemon.run.child.pid) - before) / MIB).toBeLessThan(250);
    const end = await patch(api, 'end', { over: 'yes' });
    const outcomes = await Promise.all(
      slow.map(async ({ socket, until }) => {
        socket.resume();
        const text = await until(`"resourceVersion":"${end}"`);
        socket.destroy();
        return text.includes(`"resourceVersion":"${end}"`)
          ? 'caught up'
          : /"code":410/.test(text)
            ? 'expired'
            : `ended after ${text.length}`;
      }),
    );
    expect(outcomes.every((outcome) => outcome === 'caught up' || outcome === 'expired')).toBe(true);
    quick.stop();
  });

  it('of clients that vanish are forgotten', async () => {
    const { api } = daemon;
    const connections = await Promise.all(Array.from({ length: 20 }, () => rawConnection(daemon.server)));
    for (const { socket, send } of connections) {
      send(`GET ${PATH}?watch=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${daemon.server.token}\r\n\r\n`);
      await once(socket, 'data');
    }
    expect(await openWatches(api)).toBe(20);
    for (const { socket } of connections) socket.destroy();
    await vi.waitFor(async () => expect(await openWatches(api)).toBe(0), WAIT);
  });

  it('end when their time is over, with a bookmark for those who want one', async () => {
    const { api } = daemon;
    const watch = await api.watch(`${PATH}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=0`);
    expect(await watch.ended).toBe('complete');
    expect(watch.events.at(-1)?.type).toBe('BOOKMARK');
    const { metadata } = (await api.call('GET', PATH)).json() as { metadata: { resourceVersion: string } };
    expect(watch.events.at(-1)?.object.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});

describe('a daemon that is told to stop', () => {
  it('ends watches properly, answers what it has begun, and is back on the same port with the same token', async () => {
    await inTemporaryFolder(async (home) => {
      const first = await startDaemon(home);
      const version = (await create(first.api, 'before')).json().metadata.resourceVersion as string;
      await create(first.api, 'kept');
      const raw = await rawConnection(first.server);
      raw.send(`GET ${PATH}?watch=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${first.server.token}\r\n\r\n`);
      await raw.until('"kept"');
      const watch = await first.api.watch(`${PATH}?watch=true`);
      await watch.next(({ object }) => object.metadata.name === 'kept');
      const idle = await rawConnection(first.server);
      first.run.child.kill('SIGTERM');
      expect(await watch.ended).toBe('complete');
      // The last chunk of a chunked answer: a client knows that nothing is missing.
      expect(await raw.closed).toMatch(/\r\n0\r\n\r\n$/);
      expect(answersIn(await idle.closed)).toEqual([]);
      expect(await first.run.result).toMatchObject({ code: 0, stderr: '' });
      first.api.close();
      const second = await startDaemon(home);
      expect(second.server).toEqual(first.server);
      expect((await second.api.call('GET', `${PATH}/kept`)).status).toBe(200);
      // What was before is no longer known one by one, and whoever asks for it is told so, and nothing else.
      const late = await second.api.watch(`${PATH}?watch=true&resourceVersion=${version}`);
      expect(await late.ended).toBe('complete');
      expect(late.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
      await second.stop();
    });
  });
});
