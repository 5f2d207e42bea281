/**
 * HOME/credentials.yaml and the environment, as they are now. The file is looked at before each use and read when it has changed. One
 * that others could have read or written is refused whole: what it says may not be ours.
 */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Redactor } from '#lib/redact.ts';
import { type Credentials, credentialsOfEnvironment, NO_CREDENTIALS, type Provider, parseCredentials } from './credentials.ts';
import type { Prices } from './prices.ts';

export const CREDENTIALS_FILE = 'credentials.yaml';

const MAX_BYTES = 256 * 1024;

export interface CredentialOptions {
  readonly home: string;
  readonly environment: (name: string) => string | undefined;
  readonly redactor: Redactor;
  readonly log: Logger;
  /** Who must own the file. */
  readonly uid?: number;
}

export type Origin = 'file' | 'environment';

/** What may be told of them. */
export interface CredentialView {
  readonly providers: readonly { readonly name: string; readonly from: Origin }[];
  readonly problem?: string;
}

export interface CredentialSource {
  /** What the file says counts before what the environment says. */
  provider(name: string): Provider | undefined;
  /** Why the file, or the environment, is not used; undefined when all is well. Without any value. */
  problem(): string | undefined;
  names(): readonly string[];
  /** Where the provider's credential is from. */
  origin(name: string): Origin | undefined;
  prices(): Prices;
  /** Which models a provider has; undefined where nobody has written it down. */
  models(provider: string): readonly string[] | undefined;
}

interface Read {
  readonly version: string;
  readonly credentials: Credentials;
  readonly problem?: string;
}

export function openCredentials(options: CredentialOptions): CredentialSource {
  const { environment, redactor, log } = options;
  const path = credentialsPath(options.home);
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const ofEnvironment = attempt('', () => credentialsOfEnvironment(environment));
  let ofFile: Read = { version: '', credentials: NO_CREDENTIALS };

  function take(read: Read, where: string): Read {
    redactor.learn([...read.credentials.providers.values()].flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey])));
    if (read.problem !== undefined) log.error({ path: where, problem: read.problem }, 'credentials refused');
    return read;
  }

  function look(): void {
    const version = versionOf(path);
    if (version === ofFile.version) return;
    ofFile = take(version === '' ? { version, credentials: NO_CREDENTIALS } : attempt(version, () => readFile(path, uid)), path);
  }

  take(ofEnvironment, 'the environment');
  look();
  return {
    provider(name) {
      look();
      return ofFile.credentials.providers.get(name) ?? ofEnvironment.credentials.providers.get(name);
    },
    problem() {
      look();
      return ofFile.problem ?? ofEnvironment.problem;
    },
    models(provider) {
      look();
      return ofFile.credentials.models.get(provider);
    },
    origin(name) {
      look();
      if (ofFile.credentials.providers.has(name)) return 'file';
      return ofEnvironment.credentials.providers.has(name) ? 'environment' : undefined;
    },
    prices() {
      look();
      return ofFile.credentials.prices;
    },
    names() {
      look();
      return [...new Set([...ofFile.credentials.providers.keys(), ...ofEnvironment.credentials.providers.keys()])];
    },
  };
}

export function credentialsPath(home: string): string {
  return join(home, CREDENTIALS_FILE);
}

/** Names and origins; of a provider that needs no key it is where its address is from. */
export function viewOf(source: Pick<CredentialSource, 'names' | 'origin' | 'problem'>): CredentialView {
  const problem = source.problem();
  const providers = source.names().flatMap((name) => {
    const from = source.origin(name);
    return from === undefined ? [] : [{ name, from }];
  });
  return { providers, ...(problem !== undefined && { problem }) };
}

function attempt(version: string, read: () => Credentials): Read {
  try {
    return { version, credentials: read() };
  } catch (error) {
    const problem =
      error instanceof AgentisoError ? error.message : `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
    return { version, credentials: NO_CREDENTIALS, problem };
  }
}

/** Of the open file: what is looked at is what is read. */
function readFile(path: string, uid: number): Credentials {
  const descriptor = openSync(path, 'r');
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new StalledError('CredentialsRefused', 'it is no file');
    if (stat.uid !== uid) throw new StalledError('CredentialsRefused', `it belongs to user ${stat.uid}, and agentiso runs as ${uid}`);
    if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      throw new StalledError('CredentialsRefused', `its mode is ${mode}, so that others may read or change it: chmod 600 it`);
    }
    if (stat.size > MAX_BYTES) throw new StalledError('CredentialsRefused', `it has more than ${MAX_BYTES} bytes`);
    return parseCredentials(readFileSync(descriptor, 'utf8'));
  } finally {
    closeSync(descriptor);
  }
}

/** Changes with everything that may change what is read; empty when there is no file. */
function versionOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
}
