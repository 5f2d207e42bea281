/** The egress proxy with a real client: curl, by way of a relay on loopback as there is one in a sandbox. */
import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createWebServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { createEgress } from '#network/egress/create-egress.ts';
import { connectByAddress } from '#network/egress/dial.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';

const hasTools = ['curl', 'openssl'].every((tool) => spawnSync(tool, ['version'], { stdio: 'ignore' }).error === undefined);
const PUBLIC = '93.184.216.34';
const BLOB = randomBytes(20 * 1024 * 1024);

requires(hasTools, 'the egress proxy is tried with curl and openssl')('the egress proxy and curl', () => {
  const { folder, remove } = temporaryFolder();
  const servers: Server[] = [];
  const refused: string[] = [];
  const ports = new Map<string, number>();
  const names = new Map<string, readonly string[]>([
    ['allowed.test', [PUBLIC]],
    ['inside.test', ['10.0.0.1']],
  ]);
  const egress = createEgress({
    log: silentLogger,
    onRefused: (agentId, name) => refused.push(`${agentId} ${name}`),
    resolve: async (name) => names.get(name) ?? [],
    connect: (address, port, signal) => connectByAddress('127.0.0.1', address === PUBLIC ? (ports.get(String(port)) ?? 1) : 1, signal),
  });
  let proxy = '';

  async function listen(server: Server): Promise<number> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  beforeAll(async () => {
    const onRequest: RequestListener = (request, response) => {
      if (request.url === '/blob') response.end(BLOB);
      else {
        const hash = createHash('sha256');
        request.on('data', (chunk) => hash.update(chunk)).on('end', () => response.end(`${request.method} ${hash.digest('hex')}`));
      }
    };
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=allowed.test', '-addext', 'subjectAltName=DNS:allowed.test'];
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ]);
    ports.set('80', await listen(createWebServer(onRequest)));
    ports.set('443', await listen(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, onRequest)));
    const socketPath = join(folder, 'run', 'egress.sock');
    mkdirSync(join(folder, 'run'));
    await egress.listen('agent', socketPath, { allowDomains: ['allowed.test', 'inside.test'], allowInternet: false });
    const relay = createServer({ allowHalfOpen: true }, (socket) => {
      const inner = connect({ path: socketPath, allowHalfOpen: true });
      socket.on('error', () => inner.destroy()).pipe(inner);
      inner.on('error', () => socket.destroy()).pipe(socket);
    });
    proxy = `http://127.0.0.1:${await listen(relay)}`;
    writeFileSync(join(folder, 'blob'), BLOB);
  });
  afterAll(async () => {
    await egress.closeAll();
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
    remove();
  });

  function curl(...args: readonly string[]): Promise<{ code: number; stdout: Buffer; stderr: string }> {
    const all = ['-sS', '--max-time', '60', '--noproxy', '', '-x', proxy, '--cacert', join(folder, 'cert.pem'), ...args];
    return new Promise((resolve) => {
      execFile('curl', all, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr: String(stderr) });
      });
    });
  }

  it.each(['http', 'https'])('carry %s down and up, byte for byte', async (scheme) => {
    const down = await curl(`${scheme}://allowed.test/blob`);
    expect([down.code, down.stderr]).toEqual([0, '']);
    expect(down.stdout.equals(BLOB)).toBe(true);
    const hash = createHash('sha256').update(BLOB).digest('hex');
    for (const framing of [[], ['-H', 'Transfer-Encoding: chunked'], ['-H', 'Expect: 100-continue']]) {
      const up = await curl('--data-binary', `@${join(folder, 'blob')}`, ...framing, `${scheme}://allowed.test/`);
      expect([up.code, String(up.stdout)]).toEqual([0, `POST ${hash}`]);
    }
  });

  it('refuse other names and private addresses with 403 and a reason, and tell of each name once', async () => {
    for (const [url, reason] of [
      ['http://other.test/', 'NameNotAllowed'],
      ['http://inside.test/', 'AddressNotAllowed'],
      ['http://169.254.169.254/', 'AddressNotAllowed'],
    ] as const) {
      const answer = await curl('-i', url);
      expect(String(answer.stdout)).toMatch(new RegExp(`^HTTP/1.1 403 Forbidden\\r\\n(.*\\r\\n)*X-Agentiso-Reason: ${reason}\\r\\n`));
    }
    const tunnel = await curl('-v', 'https://other.test/');
    // 56: the proxy refused the tunnel.
    expect(tunnel.code).toBe(56);
    expect(tunnel.stderr).toContain('X-Agentiso-Reason: NameNotAllowed');
    expect(refused).toEqual(['agent other.test', 'agent inside.test', 'agent 169.254.169.254']);
  });

  it('serve many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => curl(`${i % 2 ? 'http' : 'https'}://allowed.test/`)));
    const empty = createHash('sha256').digest('hex');
    expect(answers.map(({ stdout }) => String(stdout))).toEqual(Array(12).fill(`GET ${empty}`));
  });
});
