/** The shape of a conformance scenario: named HTTP exchanges that run in order and may use values of earlier answers. */

export interface Request {
  readonly method: string;
  /** May hold {{name}} of remembered values, as may query, headers and body. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is if it is a string, else as JSON. */
  readonly body?: unknown;
}

export interface Step {
  readonly name: string;
  readonly request: Request;
  /** Values of the answer for later steps, by JSON pointer, or `header:name` for a header the step compares. */
  readonly remember?: Readonly<Record<string, string>>;
  /** For a watch: ends it after so many events; without it, the server must end it. */
  readonly events?: number;
  /** Requests sent one after the other while the watch is open, after its first `initial` events. Their answers are not compared. */
  readonly meanwhile?: readonly Request[];
  readonly initial?: number;
  /** Reduces a body that holds more than the step is about. */
  readonly pick?: (body: unknown) => unknown;
  /** Response headers to compare besides the usual ones. */
  readonly headers?: readonly string[];
  /** 'reason' leaves the wording of messages out: for the texts of a parser that nobody reads by program. */
  readonly compare?: 'full' | 'reason';
  /** True if the answer depends on what was there before the scenario: it is not written down. */
  readonly silent?: boolean;
  /** True if upstream may answer from a cache that lags: recording waits before this step. */
  readonly settle?: boolean;
}

export interface Scenario {
  /** Also the prefix of the names of all its objects, by which they are cleaned up. */
  readonly name: string;
  readonly steps: readonly Step[];
}

export type Remembered = Map<string, string>;

/** Replaces {{name}} everywhere in a value. */
export function substitute<T>(value: T, remembered: Remembered): T;
export function substitute(value: unknown, remembered: Remembered): unknown {
  if (typeof value === 'string') {
    return value.replace(/\{\{(\w+)\}\}/g, (_all, name: string) => {
      const found = remembered.get(name);
      if (found === undefined) {
        throw new Error(`no step has remembered '${name}'`);
      }
      return found;
    });
  }
  if (Array.isArray(value)) {
    return value.map((item) => substitute(item, remembered));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [substitute(key, remembered), substitute(item, remembered)]));
  }
  return value;
}

/** The value a JSON pointer leads to, or undefined. */
export function at(value: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<unknown>((inside, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof inside === 'object' && inside !== null ? (inside as Record<string, unknown>)[name] : undefined;
  }, value);
}
