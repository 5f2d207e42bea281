import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import { findHome, noDaemon, openTarget } from './target.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-target-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the daemon a command means', () => {
  it('is the one of --home, of $AGENTISO_HOME, or of the nearest folder above that has one', () => {
    const deep = join(folder, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    const environment = { cwd: deep, userHome: folder };
    expect(findHome({ environment })).toBe('.agentiso');
    mkdirSync(join(folder, '.agentiso'));
    expect(findHome({ environment })).toBe('../../.agentiso');
    mkdirSync(join(deep, '.agentiso'));
    expect(findHome({ environment })).toBe('.agentiso');
    expect(findHome({ environment: { ...environment, home: '/env' } })).toBe('/env');
    expect(findHome({ home: '/given', environment: { ...environment, home: '/env' } })).toBe('/given');
  });

  it('does not answer when it does not run, and the message says how to start it', async () => {
    const { connection } = await openTarget({ environment: { cwd: folder, userHome: folder } });
    const asking = connection.request({ method: 'GET', path: '/version' });
    await expect(asking).rejects.toThrow(UnavailableError);
    await expect(asking).rejects.toThrow('no daemon answers at .agentiso (start one with: agentiso serve)');
  });

  it.each([
    { code: 'ENOENT', want: (home: string) => `no daemon answers at ${home} (start one with: agentiso serve --home ${home})` },
    { code: 'ECONNREFUSED', want: (home: string) => `no daemon answers at ${home} (start one with: agentiso serve --home ${home})` },
    { code: 'EACCES', want: (home: string) => `you may not use the daemon of ${home}: it belongs to user ${userInfo().username}` },
    { code: 'EMFILE', want: (home: string) => `the daemon at ${home} does not answer: socket hang up` },
    { code: 'ECONNRESET', want: (home: string) => `the daemon at ${home} has ended (start one with: agentiso serve --home ${home})` },
  ])('is spoken of as it is: $code', ({ code, want }) => {
    expect(noDaemon(folder, Object.assign(new Error('socket hang up'), { code }))).toBe(want(folder));
  });

  it('is not replaced by a cluster of $KUBECONFIG alone', async () => {
    const { connection } = await openTarget({ environment: { cwd: folder, userHome: folder, kubeconfig: join(folder, 'absent') } });
    expect(connection.name).toBe('.agentiso');
  });
});

describe('a cluster of a kubeconfig', () => {
  function kubeconfig(server: string, user: string): string {
    const path = join(folder, 'config');
    const lines = [
      `clusters: [{name: c, cluster: {server: "${server}"}}]`,
      `users: [{name: u, user: ${user}}]`,
      'contexts: [{name: x, context: {cluster: c, user: u, namespace: work}}]',
      'current-context: x',
    ];
    writeFileSync(path, lines.join('\n'));
    return path;
  }

  it('gets the token and its own path before every other', async () => {
    const server = createServer((request, response) => response.end(`${request.headers.authorization} ${request.url}`)).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      writeFileSync(join(folder, 'token'), 'from-file\n');
      const given = kubeconfig(`http://127.0.0.1:${port}/t/secret/`, '{tokenFile: token, token: other}');
      const { connection, namespace } = await openTarget({ kubeconfig: given, environment: { cwd: folder, userHome: folder } });
      const response = await connection.request({ method: 'GET', path: '/version' });
      expect([namespace, await response.text()]).toEqual(['work', 'Bearer from-file /t/secret/version']);
      connection.close();
    } finally {
      server.close();
    }
  });

  it('that is not there is named as kubectl names it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const choice = { kubeconfig: kubeconfig(`http://127.0.0.1:${port}`, '{}'), environment: { cwd: folder, userHome: folder } };
    const { connection } = await openTarget(choice);
    await expect(connection.request({ method: 'GET', path: '/' })).rejects.toThrow(
      `The connection to the server 127.0.0.1:${port} was refused - did you specify the right host or port?`,
    );
  });

  it('with a credential plugin is refused in a clear sentence', async () => {
    const choice = {
      kubeconfig: kubeconfig('https://127.0.0.1:1', '{exec: {command: x}}'),
      environment: { cwd: folder, userHome: folder },
    };
    await expect(openTarget(choice)).rejects.toThrow('gets its credentials from a plugin, which agentiso does not run');
  });
});
