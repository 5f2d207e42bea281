/** Quantities of Kubernetes, as metrics have them: `12m`, `345678n`, `1`, `34Mi`. Pure; NaN for what is none. */

const CPU: Readonly<Record<string, number>> = { n: 1e-6, u: 1e-3, m: 1, '': 1e3, k: 1e6 };
const BYTES: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

export function millicoresOf(text: string): number {
  return quantity(text, CPU);
}

export function bytesOf(text: string): number {
  return quantity(text, BYTES);
}

function quantity(text: string, units: Readonly<Record<string, number>>): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d*)?)([a-zA-Z]*)$/.exec(text) ?? [];
  return Number(number) * (units[unit] ?? Number.NaN);
}
