/** Tokens, money and time as numbers to reckon with, and as they are written in objects. Pure. */

export const DIMENSIONS = ['tokens', 'usd', 'seconds'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Of money, millionths of a dollar: whole numbers add up exactly. */
export type Sum = Readonly<Record<Dimension, number>>;
/** What is absent has no limit. */
export type Amounts = Readonly<Partial<Record<Dimension, number>>>;

/** As in a spec or a status. */
export interface WrittenAmounts {
  readonly tokens?: number | null;
  readonly usd?: string | null;
  readonly seconds?: number | null;
}

export const NOTHING: Sum = { tokens: 0, usd: 0, seconds: 0 };

const MICROS = 1_000_000;

export function toAmounts({ tokens, usd, seconds }: WrittenAmounts = {}): Amounts {
  return {
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof usd === 'string' && { usd: toMicros(usd) }),
    ...(typeof seconds === 'number' && { seconds }),
  };
}

export function toSum(written: WrittenAmounts = {}): Sum {
  return { ...NOTHING, ...toAmounts(written) };
}

/** What admission let through has digits, and at most six behind the point. */
function toMicros(usd: string): number {
  const [whole = '0', parts = ''] = usd.split('.');
  return Number(whole) * MICROS + Number(parts.padEnd(6, '0').slice(0, 6));
}

/** `2.5`, never less than nothing. */
export function toUsd(micros: number): string {
  const rest = Math.max(0, Math.round(micros));
  const parts = String(rest % MICROS)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${Math.floor(rest / MICROS)}${parts === '' ? '' : `.${parts}`}`;
}

export function toWritten({ tokens, usd, seconds }: Amounts): { tokens?: number; usd?: string; seconds?: number } {
  return {
    ...(tokens !== undefined && { tokens: Math.max(0, tokens) }),
    ...(usd !== undefined && { usd: toUsd(usd) }),
    ...(seconds !== undefined && { seconds: Math.max(0, Math.round(seconds)) }),
  };
}

export function isLimited(amounts: Amounts): boolean {
  return DIMENSIONS.some((dimension) => amounts[dimension] !== undefined);
}

export function eachSum(of: (dimension: Dimension) => number): Sum {
  return { tokens: of('tokens'), usd: of('usd'), seconds: of('seconds') };
}

/** Where `of` says nothing, nothing is said. */
export function eachAmount(of: (dimension: Dimension) => number | undefined): Amounts {
  return Object.fromEntries(DIMENSIONS.flatMap((dimension) => (of(dimension) === undefined ? [] : [[dimension, of(dimension)]])));
}

/** `1200 tokens`, `$0.5`, `30 s` */
export function inWords(dimension: Dimension, amount: number): string {
  switch (dimension) {
    case 'tokens':
      return `${Math.max(0, amount)} tokens`;
    case 'usd':
      return `$${toUsd(amount)}`;
    case 'seconds':
      return `${Math.max(0, Math.round(amount))} s`;
  }
}
