/** How much of a model an answer has cost, in tokens, in one form for all protocols. Pure. */

export interface Usage {
  /** The provider's own name for it, where the answer says it. */
  readonly model?: string;
  /** Of the question, without what came from a cache or went into one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of the answer, thoughts included. */
  readonly output: number;
}

/** What one event, or a whole answer, adds to what is known; events come in order, and later ones count more. */
export type UsageFold = (known: Usage | undefined, event: JsonObject) => Usage | undefined;

export type JsonObject = Readonly<Record<string, unknown>>;

export function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

export function objectIn(event: JsonObject, name: string): JsonObject | undefined {
  const value = event[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** What a provider says is not ours to trust: anything else than a number of tokens counts as none. */
export function countIn(event: JsonObject | undefined, name: string): number | undefined {
  const value = event?.[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

const MAX_MODEL = 256;

export function modelIn(event: JsonObject | undefined, name: string): { readonly model?: string } {
  const value = event?.[name];
  return typeof value === 'string' && value !== '' && value.length <= MAX_MODEL ? { model: value } : {};
}
