import { X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureCertificates } from './ensure.ts';

const DAY_MS = 86_400_000;
const START = new Date('2026-03-01T12:00:00.000Z');
const later = (days: number) => new Date(START.getTime() + days * DAY_MS);

let home: string;
let dir: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'agentiso-tls-'));
  dir = join(home, 'tls');
});
afterEach(() => rm(home, { recursive: true }));

const ensure = (now = START, hosts: string[] = []) => ensureCertificates({ dir, now, hosts });

describe('the first start', () => {
  it('makes an authority and a server certificate that belong together', async () => {
    const { caPem, certPem, keyPem } = await ensure();
    const [ca, server] = [new X509Certificate(caPem), new X509Certificate(certPem)];
    expect(server.verify(ca.publicKey)).toBe(true);
    expect(new Date(ca.validTo)).toEqual(later(3650));
    expect(new Date(server.validTo)).toEqual(later(365));
    expect(server.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect(await readFile(join(dir, 'ca.pem'), 'utf8')).toBe(caPem);
    expect(await readFile(join(dir, 'server.pem'), 'utf8')).toBe(certPem);
    expect(await readFile(join(dir, 'server-key.pem'), 'utf8')).toBe(keyPem);
  });

  it('keeps everything from other users and leaves no half-written file', async () => {
    await ensure();
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    const names = (await readdir(dir)).sort();
    expect(names).toEqual(['ca-key.pem', 'ca.pem', 'server-key.pem', 'server.pem']);
    for (const name of names) expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
  });

  it('does not write a key into a file that a crash left open to others', async () => {
    await ensure();
    await rm(join(dir, 'server-key.pem'));
    await writeFile(join(dir, 'server-key.pem.new'), 'half');
    await chmod(join(dir, 'server-key.pem.new'), 0o644);
    await ensure();
    expect((await stat(join(dir, 'server-key.pem'))).mode & 0o777).toBe(0o600);
  });
});

describe('a later start', () => {
  it.each([
    ['at once', 0],
    ['31 days before the end', 365 - 31],
  ])('keeps good certificates: %s', async (_, days) => {
    const first = await ensure();
    expect(await ensure(later(days))).toEqual(first);
  });

  it.each([
    ['within 30 days of the end', 365 - 30],
    ['after the end', 400],
  ])('renews the server certificate under the same authority: %s', async (_, days) => {
    const first = await ensure();
    const renewed = await ensure(later(days));
    expect(renewed.caPem).toBe(first.caPem);
    expect(renewed.certPem).not.toBe(first.certPem);
    expect(new Date(new X509Certificate(renewed.certPem).validTo)).toEqual(later(days + 365));
    expect(await ensure(later(days))).toEqual(renewed);
  });

  it.each(['192.0.2.7', '2001:db8::7', '[2001:db8::8]', 'box.example', 'BOX'])(
    'renews when the host %s is not covered, and then keeps it',
    async (host) => {
      const first = await ensure();
      const renewed = await ensure(START, [host]);
      expect(renewed.caPem).toBe(first.caPem);
      expect(renewed.certPem).not.toBe(first.certPem);
      expect(await ensure(START, [host])).toEqual(renewed);
      expect(await ensure(START, [])).toEqual(renewed);
    },
  );

  it('renews what is not valid yet, because the clock was wrong', async () => {
    const first = await ensure(later(100));
    expect((await ensure()).caPem).not.toBe(first.caPem);
  });

  it('gives no server certificate that outlives its authority, and replaces the authority in time', async () => {
    const first = await ensure();
    const nearEnd = await ensure(later(3650 - 100));
    expect(nearEnd.caPem).toBe(first.caPem);
    expect(new Date(new X509Certificate(nearEnd.certPem).validTo)).toEqual(later(3650));
    const replaced = await ensure(later(3650 - 20));
    expect(replaced.caPem).not.toBe(first.caPem);
    expect(new X509Certificate(replaced.certPem).verify(new X509Certificate(replaced.caPem).publicKey)).toBe(true);
  });

  it.each([
    ['server.pem', false],
    ['server-key.pem', false],
    ['ca.pem', true],
    ['ca-key.pem', true],
  ])('repairs a damaged or missing %s', async (name, isNewAuthority) => {
    for (const damage of [(path: string) => writeFile(path, 'nonsense'), (path: string) => writeFile(path, ''), rm]) {
      const first = await ensure();
      await damage(join(dir, name));
      const repaired = await ensure();
      expect(repaired.certPem).not.toBe(first.certPem);
      expect(repaired.caPem !== first.caPem).toBe(isNewAuthority);
      expect(new X509Certificate(repaired.certPem).verify(new X509Certificate(repaired.caPem).publicKey)).toBe(true);
      expect(await ensure()).toEqual(repaired);
    }
  });

  it('renews a certificate whose key is another one, as a crash between two writes leaves it', async () => {
    const first = await ensure();
    const { keyPem } = await ensureCertificates({ dir: join(home, 'other'), now: START, hosts: [] });
    await writeFile(join(dir, 'server-key.pem'), keyPem);
    const repaired = await ensure();
    expect(repaired.certPem).not.toBe(first.certPem);
    expect(repaired.keyPem).not.toBe(keyPem);
  });

  it('renews a certificate whose signature is wrong', async () => {
    const { certPem } = await ensure();
    const bytes = Buffer.from(new X509Certificate(certPem).raw);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const forged = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
    await writeFile(join(dir, 'server.pem'), forged);
    expect((await ensure()).certPem).not.toBe(forged);
  });

  it('renews a server certificate of another authority', async () => {
    await ensure();
    const other = await ensureCertificates({ dir: join(home, 'other'), now: START, hosts: [] });
    await writeFile(join(dir, 'server.pem'), other.certPem);
    await writeFile(join(dir, 'server-key.pem'), other.keyPem);
    const repaired = await ensure();
    expect(repaired.certPem).not.toBe(other.certPem);
  });
});

it.each(['a b', 'ü', '', '-x', 'x.', '*.example'])('refuses the host %j', async (host) => {
  await expect(ensure(START, [host])).rejects.toMatchObject({ code: 'Invalid' });
});

it('says which folder it cannot use', async () => {
  await writeFile(dir, '');
  await expect(ensure()).rejects.toMatchObject({ code: 'IoError', message: expect.stringContaining(dir) });
});
