/** Parsers of plain JSON values, for everything that arrives from the other side. A type is what its parser gives. */
import { ProtocolError } from './protocol-error.ts';

/** `what` names the value in a complaint. */
export type Parser<T> = (value: unknown, what: string) => T;
export type Parsed<P> = P extends Parser<infer T> ? T : never;

type Fields = Readonly<Record<string, unknown>>;
type Parsers = Readonly<Record<string, Parser<unknown>>>;
type ParsedFields<R extends Parsers> = { readonly [K in keyof R]: Parsed<R[K]> };

export function toFields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ProtocolError('Invalid', `${what} must be an object`);
  return value as Fields;
}

/** Own fields only: `constructor` and the like are not what the other side sent. */
export function fieldOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Unknown fields are dropped: a newer peer may send more. */
export function object<R extends Parsers, O extends Parsers = Readonly<Record<never, never>>>(
  required: R,
  optional?: O,
): Parser<ParsedFields<R> & Partial<ParsedFields<O>>> {
  return (value, what) => {
    const fields = toFields(value, what);
    const result: Record<string, unknown> = {};
    for (const [name, parse] of Object.entries(required)) result[name] = parse(fieldOf(fields, name), name);
    for (const [name, parse] of Object.entries(optional ?? {})) {
      const field = fieldOf(fields, name);
      if (field !== undefined) result[name] = parse(field, name);
    }
    return result as ParsedFields<R> & Partial<ParsedFields<O>>;
  };
}

export const text: Parser<string> = (value, what) => {
  if (typeof value !== 'string') throw new ProtocolError('Invalid', `${what} must be a string`);
  return value;
};

export const flag: Parser<boolean> = (value, what) => {
  if (typeof value !== 'boolean') throw new ProtocolError('Invalid', `${what} must be a boolean`);
  return value;
};

export interface Range {
  readonly min: number;
  readonly max: number;
}

export function integer({ min, max }: Range): Parser<number> {
  return (value, what) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
      throw new ProtocolError('Invalid', `${what} must be a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

/** Of a size, an offset, an age: anything from 0 up. */
export const count = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

export const finite: Parser<number> = (value, what) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new ProtocolError('Invalid', `${what} must be a number`);
  return value;
};

export function oneOf<const W extends string>(...words: readonly W[]): Parser<W> {
  return (value, what) => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw new ProtocolError('Invalid', `${what} must be one of ${words.join(', ')}`);
    return found;
  };
}

export function list<T>(item: Parser<T>, { min = 0, max = 100_000 }: Partial<Range> = {}): Parser<readonly T[]> {
  return (value, what) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      throw new ProtocolError('Invalid', `${what} must be a list of ${min} to ${max} items`);
    }
    return value.map((entry, index) => item(entry, `${what}[${index}]`));
  };
}

export function map<T>(item: Parser<T>): Parser<Readonly<Record<string, T>>> {
  return (value, what) =>
    Object.fromEntries(Object.entries(toFields(value, what)).map(([key, entry]) => [key, item(entry, `${what}.${key}`)]));
}

/** For what is passed on as it came, such as a card. */
export const anyFields: Parser<Fields> = (value, what) => toFields(value, what);
