/** Tokens and money of a run, from what an agent says of them now and then. */
import type { TokenUsage } from '#protocol/prompt.ts';
import { fieldsIn, numberIn, textIn } from './loose.ts';

export class Usage {
  #inputTokens = 0;
  #outputTokens = 0;
  #contextTokens: number | undefined;
  /** A session says what it has cost so far. */
  #sessionUsd: number | undefined;
  #earlierUsd: number | undefined;

  /** `usage_update` of the protocol. */
  update(update: unknown): void {
    this.#contextTokens = numberIn(update, 'used') ?? this.#contextTokens;
    const cost = fieldsIn(update, 'cost');
    const amount = numberIn(cost, 'amount');
    if (amount !== undefined && (textIn(cost, 'currency') ?? 'USD') === 'USD') this.#sessionUsd = amount;
  }

  /** What came with the end of a turn, where the agent says so. */
  turn(response: unknown): void {
    const usage = fieldsIn(response, 'usage') ?? fieldsIn(fieldsIn(response, '_meta'), 'usage');
    this.#inputTokens += Math.round(numberIn(usage, 'inputTokens') ?? 0);
    this.#outputTokens += Math.round(numberIn(usage, 'outputTokens') ?? 0);
  }

  add({ inputTokens, outputTokens, costUsd }: TokenUsage): void {
    this.#inputTokens += inputTokens;
    this.#outputTokens += outputTokens;
    if (costUsd !== undefined) this.#earlierUsd = (this.#earlierUsd ?? 0) + costUsd;
  }

  /** A new session counts from nothing. */
  sessionEnded(): void {
    if (this.#sessionUsd !== undefined) this.#earlierUsd = (this.#earlierUsd ?? 0) + this.#sessionUsd;
    this.#sessionUsd = undefined;
  }

  /** Undefined: nothing was said. */
  get total(): TokenUsage | undefined {
    const known = [this.#earlierUsd, this.#sessionUsd].filter((usd) => usd !== undefined);
    const costUsd = known.length === 0 ? undefined : known.reduce((sum, usd) => sum + usd, 0);
    if (this.#inputTokens + this.#outputTokens === 0 && this.#contextTokens === undefined && costUsd === undefined) return undefined;
    return {
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...(costUsd !== undefined && { costUsd }),
      ...(this.#contextTokens !== undefined && { contextTokens: Math.round(this.#contextTokens) }),
    };
  }
}
