/** What a caller sent as the parameters of one call: read by its parser, and refused with the name of the field that is wrong. */
import { ProtocolError } from './protocol-error.ts';
import type { Parser } from './shape.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_NAME_CHARS = 100;

/** A field that nobody reads is a mistake of whoever wrote it, and is named. `what` is what the fields are together. */
export function parseParams<T extends object>(parse: Parser<T>, fields: Fields, what = 'the body'): T {
  const params = parseNaming(parse, fields, what);
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(params, name));
  if (unknown === undefined) return params;
  const name = unknown.slice(0, MAX_NAME_CHARS);
  throw new ProtocolError('Invalid', `unknown field ${JSON.stringify(name)}`, undefined, { field: name });
}

function parseNaming<T>(parse: Parser<T>, fields: Fields, what: string): T {
  try {
    return parse(fields, what);
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.details.field !== undefined) throw error;
    // Complaints begin with the name of what is wrong.
    const field = /^(?<field>[a-z_]+(?:[.[][^ ]*)?) must /.exec(error.message)?.groups?.['field'];
    throw field === undefined ? error : new ProtocolError(error.code, error.message, error, { ...error.details, field });
  }
}
