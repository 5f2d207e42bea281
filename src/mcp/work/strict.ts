/** An object within the input: a field that nobody reads is refused there too, for a mistyped one would silently do nothing. */
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type Parser, parser, toFields } from '#protocol/shape.ts';

export function strict<T extends object>(parse: Parser<T>): Parser<T> {
  return parser(
    (value, what) => {
      const parsed = parse(value, what);
      const unknown = Object.keys(toFields(value, what)).find((name) => !Object.hasOwn(parsed, name));
      if (unknown === undefined) return parsed;
      const known = Object.keys((parse.schema()['properties'] as object | undefined) ?? {});
      const field = `${what}.${unknown.slice(0, MAX_NAME_CHARS)}`;
      throw new ProtocolError('Invalid', `unknown field ${field}`, undefined, { field, hint: `its fields are ${known.join(', ')}` });
    },
    () => ({ ...parse.schema(), additionalProperties: false }),
  );
}

const MAX_NAME_CHARS = 100;
