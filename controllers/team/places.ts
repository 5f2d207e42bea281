/** The machine's places for agents (limits.maxAgents): counted from what exists and from what is being made right now. */
import type { Limits } from '#api/limits.ts';
import type { KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';

export class Places {
  readonly #client: Client;
  readonly #limits: Pick<Limits, 'maxAgents'>;
  #making = 0;
  #begun = 0;

  constructor(client: Client, limits: Pick<Limits, 'maxAgents'>) {
    this.#client = client;
    this.#limits = limits;
  }

  /** Runs `make`, which makes `count` agents, if there is room for all of them; else says how many there are. */
  async take(count: number, make: () => Promise<void>): Promise<{ readonly limit: number; readonly used: number } | undefined> {
    // What was on its way when the list was asked for may be in it or not, what began since is not: never too few are counted.
    const making = this.#making;
    const begun = this.#begun;
    const { items } = await this.#client.list<KindObject>('Agent');
    const used = items.length + making + this.#begun - begun;
    const { maxAgents: limit } = this.#limits;
    if (used + count > limit) return { limit, used };
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
