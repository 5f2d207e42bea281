/**
 * Bearer tokens and whose they are.
 * Every lookup goes by the SHA-256 of what was sent, so the time it takes says nothing about any token. tokens.json holds hashes only;
 * the admin token alone is kept readable, in a file of its own, because each start writes it into the kubeconfig: removing that file and
 * starting again is how a person replaces it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, systemClock } from '#lib/clock.ts';
import { AgentisoError, InvalidError } from '#lib/errors.ts';
import { type AgentIdentity, agentIdentity, agentOfUser, type Identity, personIdentity } from './identity.ts';
import { ensurePrivateDirectory, readPrivateFile, writePrivateFile } from './private-file.ts';
import { type IssuedToken, readTokens, writeTokens } from './token-file.ts';

/** For a person or a program, or for an agent by what it is called. */
export type TokenRequest = { readonly role: 'admin' | 'viewer'; readonly user: string } | { readonly agent: AgentIdentity };

const TOKEN_BYTES = 32;
/** That many bytes in base64url. */
const TOKEN = /^[-\w]{43}$/;
const ADMIN_USER = 'admin';
/** What a header can carry and a log line can show. An agent's name is never a person's. */
const USER = /^(?!agent:|system:)[A-Za-z0-9][-A-Za-z0-9._:@/]{0,127}$/;

export class TokenStore {
  readonly adminToken: string;
  readonly #adminHash: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #admin: Identity = personIdentity('admin', ADMIN_USER);
  #issued: ReadonlyMap<string, IssuedToken>;
  readonly #transient = new Map<string, Identity>();
  #lastWrite: Promise<unknown> = Promise.resolve();

  private constructor({
    path,
    clock,
    adminToken,
    issued,
  }: { path: string; clock: Clock; adminToken: string; issued: readonly IssuedToken[] }) {
    this.#path = path;
    this.#clock = clock;
    this.adminToken = adminToken;
    this.#adminHash = hashOf(adminToken);
    this.#issued = byHash(issued);
  }

  static async open(dir: string, { clock = systemClock }: { clock?: Clock } = {}): Promise<TokenStore> {
    await ensurePrivateDirectory(dir);
    const path = join(dir, 'tokens.json');
    const issued = await readTokens(path);
    return new TokenStore({ path, clock, issued, adminToken: await ensureAdminToken(join(dir, 'admin-token')) });
  }

  identityOf(token: string): Identity | undefined {
    const hash = hashOf(token);
    if (hash === this.#adminHash) return this.#admin;
    const issued = this.#issued.get(hash);
    return issued ? identityOfEntry(issued) : this.#transient.get(hash);
  }

  /** The token is on disk, as a hash, before it is given out; nobody can read it again later. */
  async issue(request: TokenRequest): Promise<string> {
    const { role, user } = 'agent' in request ? agentIdentity(request.agent) : request;
    if (role !== 'agent' && !USER.test(user)) throw new InvalidError(`${JSON.stringify(user)} cannot be the user of a token`);
    const token = newToken();
    const entry = { hash: hashOf(token), user, role, createdAt: this.#clock.now().toISOString() };
    await this.#change((issued) => [...issued, entry]);
    return token;
  }

  /** False when there was no such token. */
  async revoke(token: string): Promise<boolean> {
    const hash = hashOf(token);
    return (await this.#change((issued) => issued.filter((entry) => entry.hash !== hash))) > 0;
  }

  /** Every issued token of a user, for when nobody has the tokens any more. Says how many there were. */
  async revokeUser(user: string): Promise<number> {
    return this.#change((issued) => issued.filter((entry) => entry.user !== user));
  }

  /** Who has tokens, without the tokens. */
  list(): Omit<IssuedToken, 'hash'>[] {
    return [...this.#issued.values()].map(({ user, role, createdAt }) => ({ user, role, createdAt }));
  }

  /** For one incarnation of an agent: never on disk, gone with this process. */
  issueTransient(identity: Identity): string {
    const token = newToken();
    this.#transient.set(hashOf(token), identity);
    return token;
  }

  revokeTransient(token: string): boolean {
    return this.#transient.delete(hashOf(token));
  }

  /** One write after another, and nothing counts before it is on disk. Says how many entries went away. */
  #change(change: (issued: readonly IssuedToken[]) => IssuedToken[]): Promise<number> {
    const write = this.#lastWrite.then(async () => {
      const before = [...this.#issued.values()];
      const after = change(before);
      if (after.length !== before.length) await writeTokens(this.#path, after);
      this.#issued = byHash(after);
      return before.length - after.length;
    });
    this.#lastWrite = write.catch(() => {});
    return write;
  }
}

function identityOfEntry({ user, role }: IssuedToken): Identity | undefined {
  if (role !== 'agent') return personIdentity(role, user);
  const agent = agentOfUser(user);
  return agent && agentIdentity(agent);
}

async function ensureAdminToken(path: string): Promise<string> {
  const kept = (await readPrivateFile(path))?.trim();
  if (kept === undefined) {
    const token = newToken();
    await writePrivateFile(path, `${token}\n`);
    return token;
  }
  if (TOKEN.test(kept)) return kept;
  throw new AgentisoError('IoError', `the admin token in ${path} is damaged`, {
    reason: 'TokensUnreadable',
    hint: 'remove the file; the next start makes a new token and writes it into the kubeconfig',
  });
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function byHash(issued: readonly IssuedToken[]): ReadonlyMap<string, IssuedToken> {
  return new Map(issued.map((entry) => [entry.hash, entry]));
}
