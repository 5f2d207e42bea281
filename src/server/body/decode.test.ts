import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, unrecognized } from './decode.ts';
import { decodePatch } from './decode-patch.ts';
import { complaintAbout } from './json-complaint.ts';
import { isTooDeep } from './limits.ts';
import { RequestError } from './request-error.ts';

const purpose = { kind: 'Team' };
const decode = (text: string | Uint8Array, contentType?: string) => decodeBody(contentType, Buffer.from(text), purpose);
const failing = (text: string | Uint8Array, contentType?: string): RequestError => {
  try {
    decode(text, contentType);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('decodeBody', () => {
  it.each([undefined, '', 'application/json', 'application/json; charset=utf-8', 'Application/JSON'])('takes %s as JSON', (contentType) => {
    expect(decode('{"kind":"Team","spec":{"n":1.5}}', contentType).value).toEqual({ kind: 'Team', spec: { n: 1.5 } });
  });

  it('takes YAML, and JSON that says it is YAML', () => {
    expect(decode('# a team\nkind: Team\nspec: {n: 1}\n', 'application/yaml').value).toEqual({ kind: 'Team', spec: { n: 1 } });
    expect(decode('{"kind":"Team"}', 'application/yaml').value).toEqual({ kind: 'Team' });
    expect(decode('{kind: Team}', 'application/yaml; charset=utf-8').value).toEqual({ kind: 'Team' });
  });

  it.each([
    ['"\\ud800"', '\ufffd'],
    ['"a\\uDFFFb"', 'a\ufffdb'],
    ['"\\ud83d\\ude80"', '🚀'],
    ['"\\ud83d\\ud83d\\ude80"', '\ufffd🚀'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\u00e9\\n"', 'é\n'],
  ])('takes half a character in %s for one that cannot be read', (text, want) => {
    expect(decode(`{"kind":${text}}`).value).toEqual({ kind: want });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'json', 'application/cbor', 'application/merge-patch+json'])(
    'refuses %s',
    (contentType) => {
      expect(failing('{}', contentType)).toMatchObject({
        status: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      });
    },
  );

  it.each([
    ['', "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
    ['{"a":', 'couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"a":)'],
    ['hello', "couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)"],
    [
      `{"a":1,}${' '.repeat(40)}`,
      `couldn't get version/kind; json parse error: invalid character '}' looking for beginning of object key string ({"a":1,}${' '.repeat(22)} ...)`,
    ],
    ['[1]', 'json: cannot unmarshal array into an object (5b315d)'],
    ['true', 'json: cannot unmarshal bool into an object (74727565)'],
    ['null', "Object 'Kind' is missing in 'null' (6e756c6c)"],
    ['{"a":1e999}', `couldn't get version/kind; json parse error: Infinity is not a number that JSON knows ({"a":1e999})`],
    ['{"a":{"__proto__":1}}', `couldn't get version/kind; json parse error: __proto__ cannot be a key ({"a":{"__proto__":1}})`],
    ['{"\\u005f_proto__":1}', `couldn't get version/kind; json parse error: __proto__ cannot be a key ({"\\u005f_proto__":1})`],
  ])('refuses %j', (text, message) => {
    expect(failing(text)).toMatchObject({
      status: 400,
      reason: 'BadRequest',
      message: `the object provided is unrecognized (must be of type Team): ${message}`,
    });
  });

  it('refuses bytes that are no UTF-8, in any format of text', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(failing(bytes).message).toContain('invalid UTF-8');
    expect(failing(bytes, 'application/yaml').message).toContain('invalid UTF-8');
  });

  it('refuses what is nested deeper than any schema, before it costs anything', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(decode(nested(100)).value).toHaveProperty('a');
    for (const levels of [101, 10_000, 1_000_000]) expect(failing(nested(levels)).message).toContain('exceeded max depth of 100');
    expect(failing(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`).message).toContain('exceeded max depth of 100');
    expect(failing(`a: ${'['.repeat(20_000)}`, 'application/yaml')).toMatchObject({ status: 400 });
    expect(failing(nested(101), 'application/yaml')).toMatchObject({ status: 400 });
  });

  it('does not count brackets in text', () => {
    expect(isTooDeep(Buffer.from(JSON.stringify({ a: '[{"'.repeat(1000), '\\"[': 1 })))).toBe(false);
  });

  it.each([
    ['a: [', 'yaml: line 1: '],
    ['a: 1\nb: 2\n c: 3\n', 'yaml: line 2: '],
    ['a: 1\n---\nb: 2\n', 'yaml: line '],
    ['a: .inf', 'yaml: Infinity is not a number that JSON knows'],
    ['__proto__: 1', 'yaml: __proto__ cannot be a key'],
    ['- 1', 'json: cannot unmarshal array into an object'],
    ['', "Object 'Kind' is missing in 'null'"],
    [`a: &a [${'x,'.repeat(10)}]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]`, 'yaml: Excessive alias count'],
  ])('refuses the YAML %j', (text, message) => {
    expect(failing(text, 'application/yaml').message).toContain(`(must be of type Team): ${message}`);
  });

  it('tells duplicate fields to those who ask', () => {
    const text = '{"spec":{"y":1,\n"y":2}}';
    expect(decode(text).value).toEqual({ spec: { y: 2 } });
    expect(decode(text).duplicates()).toEqual(['duplicate field "spec.y"']);
    expect(decode(text, 'application/yaml').duplicates()).toEqual(['line 2: key "y" already set in map']);
    expect(decode('spec:\n  y: 1\n  y: 2\n', 'application/yaml').duplicates()).toEqual(['line 3: key "y" already set in map']);
    expect(decode('{"a":1}').duplicates()).toEqual([]);
  });

  it('shows the bytes of what is no object', () => {
    expect(unrecognized('Team', 'no', Buffer.from([0, 1, 0xab])).message).toBe(
      'the object provided is unrecognized (must be of type Team): no (0001ab)',
    );
  });
});

describe('decodePatch', () => {
  it.each([
    ['application/json-patch+json', '[{"op":"test","path":""}]', 'json-patch'],
    ['application/merge-patch+json; charset=utf-8', '{"a":null}', 'merge-patch'],
    ['application/apply-patch+yaml', 'a: {b: 1}', 'apply-patch'],
    ['application/apply-patch+yaml', '{"a":1}', 'apply-patch'],
  ])('reads %s', (contentType, text, type) => {
    expect(decodePatch(contentType, Buffer.from(text)).type).toBe(type);
  });

  it.each([undefined, 'application/json', 'application/strategic-merge-patch+json', 'application/apply-patch+cbor'])(
    'refuses %s',
    (contentType) => {
      expect(() => decodePatch(contentType, Buffer.from('{}'))).toThrow(
        expect.objectContaining({
          status: 415,
          message:
            'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
        }),
      );
    },
  );

  it.each([
    ['application/json-patch+json', '[', 'error decoding patch: unexpected end of JSON input'],
    ['application/merge-patch+json', '{a:1}', "error decoding patch: invalid character 'a' looking for beginning of object key string"],
    ['application/merge-patch+json', '{"__proto__":1}', 'error decoding patch: __proto__ cannot be a key'],
    ['application/apply-patch+yaml', 'a: [', 'error decoding YAML: yaml: line 1: '],
    ['application/apply-patch+yaml', '- a', 'error decoding YAML: expected an object'],
  ])('says what is wrong with %s %j', (contentType, text, message) => {
    const decoding = () => decodePatch(contentType, Buffer.from(text));
    expect(decoding).toThrow(expect.objectContaining({ status: 400, message: expect.stringContaining(message) }));
  });
});

describe('complaintAbout', () => {
  it.each([
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['{1:2}', "invalid character '1' looking for beginning of object key string"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"a\u0000b"', "invalid character '\\x00' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e+x', "invalid character 'x' in exponent of numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['nul', 'unexpected end of JSON input'],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ])('%j: %s', (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });

  it('complains exactly about what JSON.parse refuses', () => {
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      'u00e9',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'null',
      'fals',
      ' ',
      '\n',
      'é',
      '0',
    );
    const almost = fc.tuple(fc.jsonValue(), fc.nat(), fc.string({ maxLength: 1 })).map(([value, at, character]) => {
      const text = JSON.stringify(value);
      return text.slice(0, at % (text.length + 1)) + character + text.slice((at % (text.length + 1)) + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 12 }).map((list) => list.join('')),
          almost,
        ),
        (text) => {
          expect(complaintAbout(text) === undefined).toBe(isJson(text));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
