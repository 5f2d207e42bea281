/**
 * Resolving names in turn. A lookup occupies one of the few threads that also write to disk, for as long as a name server cares to
 * keep it waiting: so there are two at a time, one of each agent, and whoever asks for much waits for itself.
 */
import { lookup } from 'node:dns/promises';
import { Refusal } from './refusal.ts';

export type Resolve = (name: string) => Promise<readonly string[]>;

export async function resolveByHost(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

const AT_A_TIME = 2;

export class Lookups {
  readonly #resolve: Resolve;
  readonly #timeoutMs: number;
  /** The last lookup of each agent that has one under way. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #shared = new Map<string, Promise<readonly string[]>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(resolve: Resolve, timeoutMs: number) {
    this.#resolve = resolve;
    this.#timeoutMs = timeoutMs;
  }

  /** Every address of the name. Rejects with a Refusal when there is none, or not in time. */
  async addressesOf(name: string, agentId: string): Promise<readonly string[]> {
    const key = `${agentId} ${name}`;
    const known = this.#shared.get(key) ?? this.#ask(name, agentId);
    this.#shared.set(key, known);
    known.finally(() => this.#shared.delete(key)).catch(() => {});
    const addresses = await inTime(known, this.#timeoutMs, () => new Refusal(504, 'ResolveTimeout', `${name} was not resolved in time`));
    if (addresses.length === 0) throw new Refusal(502, 'ResolveFailed', `${name} has no address`);
    return addresses;
  }

  #ask(name: string, agentId: string): Promise<readonly string[]> {
    const before = this.#turns.get(agentId) ?? Promise.resolve();
    const turn = before.then(() => this.#whenFree(() => this.#resolve(name)));
    const asked = turn.catch((error: NodeJS.ErrnoException) => {
      throw new Refusal(502, 'ResolveFailed', `${name} could not be resolved: ${error.code ?? 'unknown error'}`);
    });
    const done = asked.then(
      () => {},
      () => {},
    );
    this.#turns.set(agentId, done);
    void done.then(() => this.#turns.get(agentId) === done && this.#turns.delete(agentId));
    return asked;
  }

  async #whenFree<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_A_TIME) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes to the next one without becoming free in between.
      if (next) next();
      else this.#running--;
    }
  }
}

async function inTime<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
