/** The sessions over HTTP that are kept between requests: whose they are, how many each user may have, and when one has been silent for too long. */
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { awakeMs } from '#lib/awake-time.ts';
import { AgentisoError } from '#lib/errors.ts';

export interface KeptSession {
  readonly user: string;
  /** What its first request showed; every other one shows the same. */
  readonly authorization: string | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  close(): Promise<void>;
}

export interface HttpSessionsOptions {
  readonly maxPerUser?: number;
  /** Without a request under way, and while this process was awake to take one. */
  readonly maxIdleMs?: number;
  readonly nowMs?: () => number;
}

interface Use {
  /** Requests under way. */
  count: number;
  lastMs: number;
}

const MAX_PER_USER = 64;
const MAX_IDLE_MS = 30 * 60_000;
const LOOK_MS = 60_000;

export class HttpSessions {
  readonly #byId = new Map<string, KeptSession>();
  readonly #uses = new Map<KeptSession, Use>();
  readonly #maxPerUser: number;
  readonly #maxIdleMs: number;
  readonly #nowMs: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ maxPerUser = MAX_PER_USER, maxIdleMs = MAX_IDLE_MS, nowMs = awakeMs }: HttpSessionsOptions = {}) {
    this.#maxPerUser = maxPerUser;
    this.#maxIdleMs = maxIdleMs;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#uses.size;
  }

  find(id: string): KeptSession | undefined {
    return this.#byId.get(id);
  }

  /** For one more of this user: the one that was silent for the longest time ends. Refused when all are in use. */
  makeRoom(user: string): void {
    const own = [...this.#uses].filter(([session]) => session.user === user);
    if (own.length < this.#maxPerUser) return;
    const [oldest] = own.filter(([, { count }]) => count === 0).sort(([, a], [, b]) => a.lastMs - b.lastMs);
    if (!oldest) throw new AgentisoError('RateLimited', `${user} has ${own.length} MCP sessions in use, which is as many as there may be`);
    this.#end(oldest[0]);
  }

  /** A request begins; what is given back says that it is over. */
  use(session: KeptSession): () => void {
    const use = this.#uses.get(session) ?? { count: 0, lastMs: 0 };
    this.#uses.set(session, use);
    use.count++;
    return () => {
      use.count--;
      use.lastMs = this.#nowMs();
      // What was asked without becoming a session is none.
      if (session.transport.sessionId === undefined) this.#end(session);
    };
  }

  /** It has its id now. */
  keep(session: KeptSession): void {
    const { sessionId } = session.transport;
    if (sessionId === undefined || !this.#uses.has(session)) return;
    this.#byId.set(sessionId, session);
    this.#timer ??= setInterval(() => this.endIdle(), LOOK_MS).unref();
  }

  forget(session: KeptSession): void {
    this.#uses.delete(session);
    if (session.transport.sessionId !== undefined) this.#byId.delete(session.transport.sessionId);
    if (this.#uses.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  endIdle(): void {
    const before = this.#nowMs() - this.#maxIdleMs;
    for (const [session, { count, lastMs }] of this.#uses) if (count === 0 && lastMs < before) this.#end(session);
  }

  async end(user?: string): Promise<void> {
    const ending = [...this.#uses.keys()].filter((session) => user === undefined || session.user === user);
    await Promise.all(ending.map((session) => session.close()));
  }

  #end(session: KeptSession): void {
    this.forget(session);
    // Nobody waits for it.
    void session.close().catch(() => {});
  }
}
