import { expect, it } from 'vitest';
import { parseCredentials } from './credentials.ts';
import { costOf, priceOf } from './prices.ts';

const { prices } = parseCredentials(`
providers: {}
prices:
  model-a: { input: 3, output: "15.00", cacheRead: 0.3, cacheWrite: 3.75 }
  model-*: { input: 1, output: 2 }
  model-b*: { input: 0.1, output: 0.2 }
`);
const usage = { input: 1_000, cacheRead: 10_000, cacheWrite: 100, output: 500 };

it.each([
  ['model-a', 1_000 * 3 + 10_000 * 0.3 + 100 * 3.75 + 500 * 15],
  ['model-b-2', (1_000 + 10_000 + 100) * 0.1 + 500 * 0.2],
  ['model-c', 1_000 + 10_000 + 100 + 500 * 2],
])('%s costs %s millionths', (model, micros) => {
  const price = priceOf(prices, model);
  expect(price && costOf(usage, price)).toBe(Math.ceil(micros));
});

it('knows no price that nobody has written down', () => {
  expect(priceOf(prices, 'other')).toBeUndefined();
  expect(priceOf(prices, undefined)).toBeUndefined();
});

it.each([
  ['prices: { m: { input: 1 } }', /prices\.m\.output is missing/],
  ['prices: { m: { input: -1, output: 1 } }', /prices\.m\.input is not an amount/],
  ['prices: { m: { input: 1e3x, output: 1 } }', /prices\.m\.input is not an amount/],
  ['prices: { m: { input: 1, output: 1, euro: 1 } }', /prices\.m has a field/],
])('refuses %s', (text, message) => {
  expect(() => parseCredentials(text)).toThrow(message);
});
