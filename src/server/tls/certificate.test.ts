import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeAuthority, makeServerCertificate } from './certificate.ts';

const DAY_MS = 86_400_000;
const validity = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + 40 * DAY_MS) };
const HOSTS = ['localhost', '127.0.0.1', '::1', 'box.example'];
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function make() {
  const authority = makeAuthority(validity);
  return { authority, server: makeServerCertificate({ authority, hosts: HOSTS, validity }) };
}

describe('a certificate authority', () => {
  it('is signed by itself and is an authority', () => {
    const { authority } = make();
    const certificate = new X509Certificate(authority.certPem);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(authority.keyPem))).toBe(true);
  });

  it('has a name of its own each time', () => {
    expect(new X509Certificate(makeAuthority(validity).certPem).subject).not.toBe(
      new X509Certificate(makeAuthority(validity).certPem).subject,
    );
  });
});

describe('a server certificate', () => {
  it('is issued by the authority, for its hosts and for no other', () => {
    const { authority, server } = make();
    const [issuer, certificate] = [new X509Certificate(authority.certPem), new X509Certificate(server.certPem)];
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(server.keyPem))).toBe(true);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkHost('box.example')).toBe('box.example');
    expect(certificate.checkIP('127.0.0.1')).toBeDefined();
    expect(certificate.checkIP('::1')).toBeDefined();
    expect(certificate.checkHost('other.example')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('is not taken for one of another authority', () => {
    const stranger = new X509Certificate(makeAuthority(validity).certPem);
    const certificate = new X509Certificate(make().server.certPem);
    expect(certificate.checkIssued(stranger)).toBe(false);
    expect(certificate.verify(stranger.publicKey)).toBe(false);
  });

  it('has a positive serial number of its own', () => {
    const serials = Array.from({ length: 20 }, () => new X509Certificate(make().server.certPem).serialNumber);
    expect(new Set(serials).size).toBe(20);
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  it('is valid between the given moments, also beyond 2049', () => {
    const far = { notBefore: new Date('2049-12-31T23:59:59Z'), notAfter: new Date('2051-02-03T04:05:06Z') };
    const certificate = new X509Certificate(makeAuthority(far).certPem);
    expect(new Date(certificate.validFrom).toISOString()).toBe('2049-12-31T23:59:59.000Z');
    expect(new Date(certificate.validTo).toISOString()).toBe('2051-02-03T04:05:06.000Z');
  });
});

describe.runIf(hasOpenssl)('openssl', () => {
  function inFiles() {
    const dir = mkdtempSync(join(tmpdir(), 'agentiso-tls-'));
    cleanups.push(() => rmSync(dir, { recursive: true }));
    const { authority, server } = make();
    const [ca, cert] = [join(dir, 'ca.pem'), join(dir, 'server.pem')];
    writeFileSync(ca, authority.certPem);
    writeFileSync(cert, server.certPem);
    return { ca, cert };
  }

  it.each([
    [['-verify_hostname', 'localhost'], 0],
    [['-verify_ip', '127.0.0.1'], 0],
    [['-verify_ip', '::1'], 0],
    [['-verify_hostname', 'evil.example'], 2],
    [['-purpose', 'sslclient'], 2],
  ])('verifies strictly with %j: exit %i', (extra, status) => {
    const { ca, cert } = inFiles();
    const run = spawnSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', ...extra, '-CAfile', ca, cert], {
      encoding: 'utf8',
    });
    expect(run.status, run.stdout + run.stderr).toBe(status);
  });

  it('reads every extension', () => {
    const { ca, cert } = inFiles();
    const text = (path: string) => spawnSync('openssl', ['x509', '-in', path, '-noout', '-text'], { encoding: 'utf8' }).stdout;
    expect(text(ca)).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(text(ca)).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign/);
    expect(text(cert)).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text(cert)).toMatch(/Key Usage: critical\s+Digital Signature/);
    expect(text(cert)).toMatch(/Extended Key Usage:\s+TLS Web Server Authentication/);
    expect(text(cert)).toMatch(/DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:box.example/);
    const [, subjectId] = /Subject Key Identifier:\s+([0-9A-F:]+)/.exec(text(ca)) ?? [];
    const [, authorityId] = /Authority Key Identifier:\s+(?:keyid:)?([0-9A-F:]+)/.exec(text(cert)) ?? [];
    expect(subjectId).toMatch(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/);
    expect(authorityId).toBe(subjectId);
  });
});

describe('an https server with it', () => {
  async function serve() {
    const { authority, server } = make();
    const listening = createServer({ cert: server.certPem, key: server.keyPem }, (_, response) => response.end('hello'));
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => listening.close(resolve)));
    return { authority, port: (listening.address() as AddressInfo).port };
  }

  function fetchText(options: { port: number; ca: string; host?: string; servername?: string }): Promise<string> {
    return new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', agent: false, ...options }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      }).on('error', reject);
    });
  }

  it.each([{ host: '127.0.0.1' }, { host: 'localhost' }, { servername: 'box.example' }])(
    'answers a client that trusts the authority: %j',
    async (where) => {
      const { authority, port } = await serve();
      expect(await fetchText({ port, ca: authority.certPem, ...where })).toBe('hello');
    },
  );

  it('is refused by a client that asked for another host', async () => {
    const { authority, port } = await serve();
    await expect(fetchText({ port, ca: authority.certPem, servername: 'evil.example' })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('is refused by a client that trusts another authority', async () => {
    const { port } = await serve();
    await expect(fetchText({ port, ca: makeAuthority(validity).certPem })).rejects.toThrow(/verify|issuer/);
  });
});
