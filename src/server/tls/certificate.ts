/**
 * X.509 v3 certificates with ECDSA P-256 and SHA-256: our own authority, and a server certificate signed by it.
 * Pure but for the randomness of keys and serial numbers.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import * as der from './der.ts';
import { ipBytes } from './ip-bytes.ts';

export interface KeyedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Bits as RFC 5280 counts them, from the left. */
const KEY_USAGE = {
  digitalSignature: der.bitString(Buffer.from([0b1000_0000]), 7),
  signCertificates: der.bitString(Buffer.from([0b0000_0110]), 1),
} as const;

const ALGORITHM = der.sequence(der.oid(OID.ecdsaWithSha256));

export function makeAuthority(validity: Validity): KeyedCertificate {
  const key = newKey();
  const publicKey = createPublicKey(key);
  const id = keyId(publicKey);
  // The key's mark in the name keeps a new authority apart from an old one that some client still trusts.
  const name = distinguishedName(`agentiso CA ${id.toString('hex').slice(0, 8)}`);
  const extensions = [
    extension(OID.basicConstraints, der.sequence(der.boolean(true), der.integer(Buffer.from([0]))), { isCritical: true }),
    extension(OID.keyUsage, KEY_USAGE.signCertificates, { isCritical: true }),
    extension(OID.subjectKeyIdentifier, der.octetString(id)),
    extension(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, id))),
  ];
  return signed({ subject: name, issuer: name, key, signer: key, validity, extensions });
}

export interface ServerCertificateOptions {
  readonly authority: KeyedCertificate;
  readonly hosts: readonly string[];
  readonly validity: Validity;
}

export function makeServerCertificate({ authority, hosts, validity }: ServerCertificateOptions): KeyedCertificate {
  const key = newKey();
  const signer = createPrivateKey(authority.keyPem);
  const authorityId = keyId(createPublicKey(signer));
  const extensions = [
    extension(OID.basicConstraints, der.sequence(), { isCritical: true }),
    extension(OID.keyUsage, KEY_USAGE.digitalSignature, { isCritical: true }),
    extension(OID.extendedKeyUsage, der.sequence(der.oid(OID.serverAuth))),
    extension(OID.subjectAltName, der.sequence(...hosts.map(generalName))),
    extension(OID.subjectKeyIdentifier, der.octetString(keyId(createPublicKey(key)))),
    extension(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, authorityId))),
  ];
  const issuer = distinguishedName(commonNameOf(new X509Certificate(authority.certPem)));
  return signed({ subject: distinguishedName('agentiso'), issuer, key, signer, validity, extensions });
}

interface Unsigned {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

function signed({ subject, issuer, key, signer, validity, extensions }: Unsigned): KeyedCertificate {
  const version3 = der.explicit(0, der.integer(Buffer.from([2])));
  const dates = der.sequence(der.time(validity.notBefore), der.time(validity.notAfter));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const body = der.sequence(
    version3,
    serialNumber(),
    ALGORITHM,
    issuer,
    dates,
    subject,
    publicKey,
    der.explicit(3, der.sequence(...extensions)),
  );
  const certificate = der.sequence(body, ALGORITHM, der.bitString(sign('sha256', body, signer)));
  return { certPem: pem(certificate), keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

/** Positive, never zero, and inside the 20 bytes that RFC 5280 allows. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return der.integer(bytes);
}

/** RFC 7093, method 1: the first 160 bits of the SHA-256 of the public point. */
function keyId(publicKey: KeyObject): Buffer {
  const uncompressedPointBytes = 65;
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-uncompressedPointBytes);
  return createHash('sha256').update(point).digest().subarray(0, 20);
}

function distinguishedName(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(OID.commonName), der.utf8String(commonName))));
}

function commonNameOf(certificate: X509Certificate): string {
  return certificate.subject.replace(/^CN=/, '');
}

function extension(id: string, value: Buffer, { isCritical = false } = {}): Buffer {
  const critical = isCritical ? [der.boolean(true)] : [];
  return der.sequence(der.oid(id), ...critical, der.octetString(value));
}

function generalName(host: string): Buffer {
  const address = ipBytes(host);
  return address ? der.implicit(7, address) : der.implicit(2, Buffer.from(host, 'ascii'));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
