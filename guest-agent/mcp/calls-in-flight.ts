/**
 * Calls that a client may still cancel. Over HTTP the cancelling comes as a request of its own, so calls are found by session and id; a
 * session is nothing but a word that the client repeats.
 */
import type { RpcId } from './json-rpc.ts';

export class CallsInFlight {
  readonly #calls = new Map<string, AbortController>();

  /** Runs with a signal that aborts by the given one, or by `cancel`. */
  async run<T>(session: string | undefined, id: RpcId, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (session === undefined) return work(signal);
    const key = keyOf(session, id);
    const controller = new AbortController();
    const both = AbortSignal.any([signal, controller.signal]);
    this.#calls.set(key, controller);
    try {
      return await work(both);
    } finally {
      if (this.#calls.get(key) === controller) this.#calls.delete(key);
    }
  }

  cancel(session: string | undefined, id: RpcId): void {
    if (session !== undefined) this.#calls.get(keyOf(session, id))?.abort(new Error('cancelled by the client'));
  }
}

function keyOf(session: string, id: RpcId): string {
  return JSON.stringify([session, id]);
}
