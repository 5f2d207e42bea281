/**
 * The certificates of one data folder: made at the first start, kept while they are good, renewed when they are not.
 * The authority outlives the server certificate, so that a client that trusts it need not notice a renewal.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { InvalidError } from '#lib/errors.ts';
import { ensurePrivateDirectory, readPrivateFile, writePrivateFile } from '../auth/private-file.ts';
import { type KeyedCertificate, makeAuthority, makeServerCertificate } from './certificate.ts';
import { ipBytes } from './ip-bytes.ts';

export interface CertificatesOptions {
  readonly dir: string;
  readonly now: Date;
  /** Names and addresses beside the loopback ones, for example the one that the server listens on. */
  readonly hosts: readonly string[];
}

export interface Certificates {
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const AUTHORITY_MS = 3_650 * DAY_MS;
const SERVER_MS = 365 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Guests restored from a snapshot may live a little in the past. */
const BACKDATE_MS = 60 * 60 * 1_000;
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const AUTHORITY = { cert: 'ca.pem', key: 'ca-key.pem' };
const SERVER = { cert: 'server.pem', key: 'server-key.pem' };

export async function ensureCertificates({ dir, now, hosts }: CertificatesOptions): Promise<Certificates> {
  await ensurePrivateDirectory(dir);
  const authority = await ensureAuthority(dir, now);
  const server = await ensureServer({ dir, now, authority, hosts: [...new Set([...LOOPBACK, ...hosts.map(bare)])] });
  return { caPem: authority.certPem, certPem: server.certPem, keyPem: server.keyPem };
}

async function ensureAuthority(dir: string, now: Date): Promise<KeyedCertificate> {
  const kept = await readPair(dir, AUTHORITY);
  if (kept && isGoodAuthority(kept, now)) return kept;
  const made = makeAuthority(validity(now, AUTHORITY_MS));
  await writePair(dir, AUTHORITY, made);
  return made;
}

interface ServerOptions extends CertificatesOptions {
  readonly authority: KeyedCertificate;
}

async function ensureServer({ dir, now, authority, hosts }: ServerOptions): Promise<KeyedCertificate> {
  const kept = await readPair(dir, SERVER);
  if (kept && isGoodServer(kept, { authority, now, hosts })) return kept;
  const end = new X509Certificate(authority.certPem).validTo;
  const lifeMs = Math.min(SERVER_MS, Date.parse(end) - now.getTime());
  const made = makeServerCertificate({ authority, hosts, validity: validity(now, lifeMs) });
  await writePair(dir, SERVER, made);
  return made;
}

function isGoodAuthority(pair: KeyedCertificate, now: Date): boolean {
  const certificate = parsed(pair);
  return certificate?.ca === true && isCurrent(certificate, now) && certificate.verify(certificate.publicKey);
}

function isGoodServer(pair: KeyedCertificate, { authority, now, hosts }: Omit<ServerOptions, 'dir'>): boolean {
  const certificate = parsed(pair);
  if (!certificate || certificate.ca || !isCurrent(certificate, now)) return false;
  const issuer = new X509Certificate(authority.certPem);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey) && hosts.every((host) => covers(certificate, host));
}

/** Undefined for text that is no certificate, or a certificate whose key is another's. */
function parsed({ certPem, keyPem }: KeyedCertificate): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(certPem);
    return certificate.checkPrivateKey(createPrivateKey(keyPem)) ? certificate : undefined;
  } catch {
    return undefined;
  }
}

function isCurrent({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) <= now.getTime() && Date.parse(validTo) > now.getTime() + RENEW_BEFORE_MS;
}

function covers(certificate: X509Certificate, host: string): boolean {
  return (ipBytes(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

function validity(now: Date, lifeMs: number) {
  return { notBefore: new Date(now.getTime() - BACKDATE_MS), notAfter: new Date(now.getTime() + lifeMs) };
}

/** `[::1]` and `fe80::1%eth0` are ways to write an address into a URL or a command line. */
function bare(host: string): string {
  const name = host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .toLowerCase();
  if (!ipBytes(name) && !DNS_NAME.test(name)) throw new InvalidError(`${JSON.stringify(host)} is neither a host name nor an IP address`);
  return name;
}

async function readPair(dir: string, names: typeof SERVER): Promise<KeyedCertificate | undefined> {
  const certPem = await readPrivateFile(join(dir, names.cert));
  const keyPem = await readPrivateFile(join(dir, names.key));
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}

/** A crash between the two leaves a key that does not fit, which the next start notices. */
async function writePair(dir: string, names: typeof SERVER, { certPem, keyPem }: KeyedCertificate): Promise<void> {
  await writePrivateFile(join(dir, names.key), keyPem);
  await writePrivateFile(join(dir, names.cert), certPem);
}
