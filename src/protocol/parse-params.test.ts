import { describe, expect, it } from 'vitest';
import { parseParams } from './parse-params.ts';
import type { ProtocolError } from './protocol-error.ts';
import { integer, list, object, parser, text } from './shape.ts';

const parse = object({ team: text }, { count: integer({ min: 1, max: 5 }), names: list(text) });

function refusalOf(fields: Record<string, unknown>, what?: string) {
  try {
    return parseParams(parse, fields, what);
  } catch (error) {
    const { code, message, details } = error as ProtocolError;
    return { code, message, field: details.field };
  }
}

describe('parseParams', () => {
  it('gives what the parser gives', () => {
    expect(refusalOf({ team: 'a', count: 2 })).toEqual({ team: 'a', count: 2 });
  });

  it.each([
    [{}, 'team must be a string', 'team'],
    [{ team: 'a', count: 9 }, 'count must be a whole number from 1 to 5', 'count'],
    [{ team: 'a', names: ['b', 3] }, 'names[1] must be a string', 'names[1]'],
    [{ team: 'a', tema: 'b' }, 'unknown field "tema"', 'tema'],
    [{ team: 'a', constructor: 1 }, 'unknown field "constructor"', 'constructor'],
  ])('%j: %s', (fields, message, field) => {
    expect(refusalOf(fields as unknown as Record<string, unknown>)).toEqual({ code: 'Invalid', message, field });
  });

  it('names the whole where the whole is wrong', () => {
    expect(refusalOf([] as never, 'the input')).toEqual({ code: 'Invalid', message: 'the input must be an object', field: undefined });
  });

  it('passes on what is no complaint about a field', () => {
    const parse = parser<object>(
      () => {
        throw new TypeError('x');
      },
      () => ({}),
    );
    expect(() => parseParams(parse, {})).toThrow(TypeError);
  });
});
