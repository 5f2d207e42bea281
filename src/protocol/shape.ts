/** Parsers of plain JSON values, for everything that arrives from the other side. A type is what its parser gives. */
import { ProtocolError } from './protocol-error.ts';

export interface Parser<T> {
  /** `what` names the value in a complaint. */
  (value: unknown, what: string): T;
  /** What it accepts, as JSON Schema, for those who are to be told beforehand. Made when it is asked for. */
  readonly schema: () => JsonSchema;
}
export type JsonSchema = Readonly<Record<string, unknown>>;
export type Parsed<P> = P extends Parser<infer T> ? T : never;

type Fields = Readonly<Record<string, unknown>>;
type Parsers = Readonly<Record<string, Parser<unknown>>>;
type ParsedFields<R extends Parsers> = { readonly [K in keyof R]: Parsed<R[K]> };

/** A parser of ours, and what it accepts. */
export function parser<T>(parse: (value: unknown, what: string) => T, schema: () => JsonSchema): Parser<T> {
  return Object.assign(parse, { schema });
}

/** The same, with a word for whoever reads its schema. */
export function described<T>(parse: Parser<T>, description: string): Parser<T> {
  return parser(
    (value, what) => parse(value, what),
    () => ({ ...parse.schema(), description }),
  );
}

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
  const requiredEntries = Object.entries(required);
  const optionalEntries = Object.entries(optional ?? {});
  const parse = (value: unknown, what: string) => {
    const fields = toFields(value, what);
    const result: Record<string, unknown> = {};
    for (const [name, parse] of requiredEntries) result[name] = parse(fieldOf(fields, name), name);
    for (const [name, parse] of optionalEntries) {
      const field = fieldOf(fields, name);
      if (field !== undefined) result[name] = parse(field, name);
    }
    return result as ParsedFields<R> & Partial<ParsedFields<O>>;
  };
  return parser(parse, () => {
    const properties = Object.entries({ ...required, ...optional }).map(([name, { schema }]) => [name, schema()]);
    const names = Object.keys(required);
    return { type: 'object', properties: Object.fromEntries(properties), ...(names.length > 0 && { required: names }) };
  });
}

export const text: Parser<string> = parser(
  (value, what) => {
    if (typeof value !== 'string') throw new ProtocolError('Invalid', `${what} must be a string`);
    return value;
  },
  () => ({ type: 'string' }),
);

/** A text of one form; `form` names it in a complaint. */
export function pattern(expression: RegExp, form: string): Parser<string> {
  return parser(
    (value, what) => {
      if (!expression.test(text(value, what))) throw new ProtocolError('Invalid', `${what} must be ${form}`);
      return value as string;
    },
    () => ({ type: 'string', pattern: expression.source }),
  );
}

export const flag: Parser<boolean> = parser(
  (value, what) => {
    if (typeof value !== 'boolean') throw new ProtocolError('Invalid', `${what} must be a boolean`);
    return value;
  },
  () => ({ type: 'boolean' }),
);

export interface Range {
  readonly min: number;
  readonly max: number;
}

export function integer({ min, max }: Range): Parser<number> {
  return parser(
    (value, what) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
        throw new ProtocolError('Invalid', `${what} must be a whole number from ${min} to ${max}`);
      }
      return value;
    },
    () => ({ type: 'integer', minimum: min, maximum: max }),
  );
}

/** Of a size, an offset, an age: anything from 0 up. */
export const count = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

export const finite: Parser<number> = parser(
  (value, what) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new ProtocolError('Invalid', `${what} must be a number`);
    return value;
  },
  () => ({ type: 'number' }),
);

export function oneOf<const W extends string>(...words: readonly W[]): Parser<W> {
  return parser(
    (value, what) => {
      const found = words.find((word) => word === value);
      if (found === undefined) throw new ProtocolError('Invalid', `${what} must be one of ${words.join(', ')}`);
      return found;
    },
    () => ({ type: 'string', enum: [...words] }),
  );
}

export function list<T>(item: Parser<T>, { min = 0, max = 100_000 }: Partial<Range> = {}): Parser<readonly T[]> {
  return parser(
    (value, what) => {
      if (!Array.isArray(value) || value.length < min || value.length > max) {
        throw new ProtocolError('Invalid', `${what} must be a list of ${min} to ${max} items`);
      }
      return value.map((entry, index) => item(entry, `${what}[${index}]`));
    },
    () => ({ type: 'array', items: item.schema(), ...(min > 0 && { minItems: min }), ...(max < 100_000 && { maxItems: max }) }),
  );
}

export function map<T>(item: Parser<T>): Parser<Readonly<Record<string, T>>> {
  return parser(
    (value, what) => Object.fromEntries(Object.entries(toFields(value, what)).map(([key, entry]) => [key, item(entry, `${what}.${key}`)])),
    () => ({ type: 'object', additionalProperties: item.schema() }),
  );
}

export function nullable<T>(parse: Parser<T>): Parser<T | null> {
  return parser(
    (value, what) => (value === null ? null : parse(value, what)),
    () => ({ anyOf: [parse.schema(), { type: 'null' }] }),
  );
}

/** For what is passed on as it came, such as a card. */
export const anyFields: Parser<Fields> = parser(
  (value, what) => toFields(value, what),
  () => ({ type: 'object' }),
);
