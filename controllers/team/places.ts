/** The machine's places for agents (limits.maxAgents): counted from what exists and from what is being made right now. */
import type { KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';

export class Places {
  readonly #client: Client;
  readonly #limit: number;
  #making = 0;
  #begun = 0;

  constructor(client: Client, limit: number) {
    this.#client = client;
    this.#limit = limit;
  }

  /** Runs `make`, which makes `count` agents, if there is room for all of them; else says how many there are. */
  async take(count: number, make: () => Promise<void>): Promise<{ readonly limit: number; readonly used: number } | undefined> {
    // What was on its way when the list was asked for may be in it or not, what began since is not: never too few are counted.
    const making = this.#making;
    const begun = this.#begun;
    const { items } = await this.#client.list<KindObject>('Agent');
    const used = items.length + making + this.#begun - begun;
    if (used + count > this.#limit) return { limit: this.#limit, used };
    this.#making += count;
    this.#begun += count;
    try {
      await make();
    } finally {
      this.#making -= count;
    }
    return undefined;
  }
}
