/** What tokens cost, as people have written it down: US dollars for a million tokens, by model. Nothing is known of a model that is not there. Pure. */
import type { Usage } from './usage/usage.ts';

export interface Price {
  readonly input: number;
  readonly output: number;
  /** As the question's, where it is not said. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** A name may end with `*`, for all that begin like this; the longest that fits counts. */
export type Prices = ReadonlyMap<string, Price>;

export function priceOf(prices: Prices, model: string | undefined): Price | undefined {
  if (model === undefined) return undefined;
  const exact = prices.get(model);
  if (exact) return exact;
  const fitting = [...prices.keys()].filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)));
  const [longest] = fitting.sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : prices.get(longest);
}

/** In millionths of a dollar, rounded up: so many dollars a million tokens are so many millionths a token. */
export function costOf({ input, cacheRead, cacheWrite, output }: Usage, price: Price): number {
  const { cacheRead: read = price.input, cacheWrite: write = price.input } = price;
  const micros = input * price.input + cacheRead * read + cacheWrite * write + output * price.output;
  // What is a whole number but for the last binary digit stays one.
  return Math.ceil(Number(micros.toFixed(6)));
}
