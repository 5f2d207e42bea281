import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalJson, freezeJson, isObject, type JsonObject } from '#lib/json.ts';
import { applyJsonPatch, strangePatchFields } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { RequestError } from './request-error.ts';

const anyKey = fc.oneof(fc.constantFrom('a', 'b', 'c', 'a/b', 'm~n', ''), fc.string({ maxLength: 3 }));
const { tree } = fc.letrec<{ tree: unknown; object: JsonObject }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 1, 'x', true), fc.array(tie('tree'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(anyKey, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
}));
const object = fc.dictionary(anyKey, tree, { maxKeys: 4, noNullPrototype: true });

describe('applyMergePatch', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 'text' }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    [{ a: 1 }, {}, { a: 1 }],
  ])('of %j with %j gives %j', (target, patch, expected) => {
    expect(applyMergePatch(target as JsonObject, patch)).toEqual(expected);
  });

  /** The pseudo code of RFC 7396, word by word. */
  function specified(target: unknown, patch: unknown): unknown {
    if (!isObject(patch)) return patch;
    const result = new Map(isObject(target) ? Object.entries(target) : []);
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) result.delete(name);
      else result.set(name, specified(result.get(name), value));
    }
    return Object.fromEntries(result);
  }

  it('does what the RFC says, and changes neither argument', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => {
        fc.pre(!JSON.stringify([target, patch]).includes('__proto__'));
        expect(equalJson(applyMergePatch(freezeJson(target), freezeJson(patch)), specified(target, patch))).toBe(true);
      }),
    );
  });

  it('shares what it does not touch', () => {
    const spec = { a: 1 };
    expect(applyMergePatch({ spec, status: {} }, { status: { b: 1 } })['spec']).toBe(spec);
  });

  it.each([[[1]], [null], ['x'], [5]])('refuses %j as a patch', (patch) => {
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ status: 400, reason: 'BadRequest' }));
  });

  it('refuses __proto__ at any depth and looks at own members only', () => {
    expect(() => applyMergePatch({}, JSON.parse('{"a":{"__proto__":{"x":1}}}'))).toThrow('__proto__ cannot be a key');
    expect(applyMergePatch({}, { constructor: { x: 1 } })).toEqual({ constructor: { x: 1 } });
  });
});

describe('applyJsonPatch', () => {
  const doc = { a: 1, list: ['x', 'y'], map: { 'k/1': 'slash', 'm~n': 'tilde', nothing: null } };

  it.each([
    ['adds a member', [{ op: 'add', path: '/b', value: 2 }], { ...doc, b: 2 }],
    ['replaces by adding', [{ op: 'add', path: '/a', value: [1] }], { ...doc, a: [1] }],
    ['adds before an index', [{ op: 'add', path: '/list/1', value: 'z' }], { ...doc, list: ['x', 'z', 'y'] }],
    ['adds at the end', [{ op: 'add', path: '/list/-', value: 'z' }], { ...doc, list: ['x', 'y', 'z'] }],
    ['adds at the index after the last', [{ op: 'add', path: '/list/2', value: 'z' }], { ...doc, list: ['x', 'y', 'z'] }],
    ['counts from the end', [{ op: 'replace', path: '/list/-1', value: 'z' }], { ...doc, list: ['x', 'z'] }],
    ['adds from the end', [{ op: 'add', path: '/list/-1', value: 'z' }], { ...doc, list: ['x', 'y', 'z'] }],
    ['removes a member', [{ op: 'remove', path: '/a' }], { list: doc.list, map: doc.map }],
    ['removes an item', [{ op: 'remove', path: '/list/0' }], { ...doc, list: ['y'] }],
    ['replaces a member', [{ op: 'replace', path: '/a', value: null }], { ...doc, a: null }],
    ['replaces what a map does not have, as Kubernetes does', [{ op: 'replace', path: '/new', value: 1 }], { ...doc, new: 1 }],
    ['replaces everything', [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
    ['adds null for want of a value', [{ op: 'add', path: '/b' }], { ...doc, b: null }],
    ['reads escaped keys', [{ op: 'remove', path: '/map/k~11' }], { ...doc, map: { 'm~n': 'tilde', nothing: null } }],
    ['reads other escaped keys', [{ op: 'replace', path: '/map/m~0n', value: 1 }], { ...doc, map: { ...doc.map, 'm~n': 1 } }],
    ['moves', [{ op: 'move', from: '/a', path: '/map/a' }], { list: doc.list, map: { ...doc.map, a: 1 } }],
    ['moves within a list', [{ op: 'move', from: '/list/0', path: '/list/1' }], { ...doc, list: ['y', 'x'] }],
    ['copies', [{ op: 'copy', from: '/list', path: '/b' }], { ...doc, b: ['x', 'y'] }],
    ['tests', [{ op: 'test', path: '/list', value: ['x', 'y'] }], doc],
    ['tests the whole', [{ op: 'test', path: '', value: doc }], doc],
    ['tests for null', [{ op: 'test', path: '/map/nothing', value: null }], doc],
    ['takes what is missing for null', [{ op: 'test', path: '/none', value: null }], doc],
    ['tests by value, whatever the order', [{ op: 'test', path: '/map', value: { nothing: null, 'm~n': 'tilde', 'k/1': 'slash' } }], doc],
    ['does nothing', [], doc],
  ])('%s', (_, patch, expected) => {
    expect(applyJsonPatch(freezeJson(structuredClone(doc)), patch)).toEqual(expected);
  });

  it.each([
    [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
    [{ op: 'test', path: '/a', value: '1' }, 'testing value /a failed: test failed'],
    [{ op: 'test', path: '/a' }, 'testing value /a failed: test failed'],
    [{ op: 'test', path: '/x/y', value: 1 }, 'test operation does not apply: is missing path: /x/y: missing value'],
    [
      { op: 'test', path: '/list/7', value: 1 },
      "error in test for path: '/list/7': Unable to access invalid index: 7: invalid index referenced",
    ],
    [{ op: 'add', path: '/x/y', value: 1 }, 'add operation does not apply: doc is missing path: "/x/y": missing value'],
    [{ op: 'add', path: '/a/y', value: 1 }, 'add operation does not apply: doc is missing path: "/a/y": missing value'],
    [{ op: 'add', path: '', value: {} }, 'add operation does not apply: doc is missing path: "": missing value'],
    [{ op: 'test', value: 1 }, 'test operation failed to decode path: operation missing path field: missing value'],
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
    [
      { op: 'add', path: '/list/3', value: 1 },
      "error in add for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'remove', path: '/x' }, "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"],
    [
      { op: 'remove', path: '/constructor' },
      "error in remove for path: '/constructor': Unable to remove nonexistent key: constructor: missing value",
    ],
    [
      { op: 'remove', path: '/list/-3' },
      "error in remove for path: '/list/-3': Unable to access invalid index: -3: invalid index referenced",
    ],
    [{ op: 'remove', path: '/x/y' }, 'remove operation does not apply: doc is missing path: "/x/y": missing value'],
    [{ op: 'replace', path: '/x/y', value: 1 }, 'replace operation does not apply: doc is missing path: /x/y: missing value'],
    [{ op: 'replace', path: '/list/2', value: 1 }, 'replace operation does not apply: doc is missing key: /list/2: missing value'],
    [{ op: 'replace', path: '', value: 1 }, 'replace operation value must be object or array'],
    [{ op: 'replace', path: '', value: [] }, 'the patch leaves no object'],
    [{ op: 'move', path: '/x' }, 'move operation failed to decode from: operation, missing from field: missing value'],
    [{ op: 'move', from: '/none', path: '/x' }, "error in move for path: 'none': Unable to remove nonexistent key: none: missing value"],
    [{ op: 'move', from: '/map', path: '/map/x' }, 'move operation does not apply: doc is missing destination path: /map/x: missing value'],
    [{ op: 'copy', from: '/x/y', path: '/z' }, 'copy operation does not apply: doc is missing from path: /x/y: missing value'],
    [{ op: 'frobnicate', path: '/a' }, 'Unexpected kind: frobnicate'],
    [{ op: 'toString', path: '/a' }, 'Unexpected kind: toString'],
    [{ path: '/a' }, 'Unexpected kind: unknown'],
    [{ op: 'add', path: '/__proto__', value: {} }, "error in add for path: '/__proto__': __proto__ cannot be a key"],
    [{ op: 'add', path: '/__proto__/x', value: {} }, 'add operation does not apply: doc is missing path: "/__proto__/x": missing value'],
  ])('refuses %j', (operation, message) => {
    expect(() => applyJsonPatch(doc, [operation])).toThrow(expect.objectContaining({ status: 422, reason: 'Invalid', message }));
  });

  it('refuses what is no patch, and too much of it', () => {
    expect(() => applyJsonPatch(doc, {})).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => applyJsonPatch(doc, [1])).toThrow(expect.objectContaining({ status: 400 }));
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }));
    expect(() => applyJsonPatch(doc, many)).toThrow(
      expect.objectContaining({
        status: 413,
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    );
    expect(applyJsonPatch(doc, many.slice(1))).toEqual(doc);
  });

  it('does not let copies of copies grow without end', () => {
    const wide = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/list', path: '/list/-' }));
    expect(() => applyJsonPatch({ list: ['x'] }, wide)).toThrow(RequestError);
    const flat = Array.from({ length: 2000 }, (_, at) => ({ op: 'copy', from: '/text', path: `/t${at}` }));
    expect(() => applyJsonPatch({ text: 'x'.repeat(2000) }, flat)).toThrow('exceeding the limit 3145728');
    const deep = Array.from({ length: 200 }, () => ({ op: 'copy', from: '/a', path: '/a/a' }));
    expect(() => applyJsonPatch({ a: { a: {} } }, deep)).toThrow(expect.objectContaining({ status: 422 }));
  });

  it('does not tie two places of the object to one value', () => {
    const value = { n: 1 };
    const patch = [
      { op: 'add', path: '/x', value },
      { op: 'add', path: '/y', value },
      { op: 'replace', path: '/x/n', value: 2 },
    ];
    expect(applyJsonPatch({}, patch)).toEqual({ x: { n: 2 }, y: { n: 1 } });
  });

  it('turns any object into any other by replacing member after member', () => {
    const pointer = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    fc.assert(
      fc.property(object, object, (before, after) => {
        fc.pre(!JSON.stringify([before, after]).includes('__proto__'));
        const patch = [
          ...Object.keys(before).map((key) => ({ op: 'test', path: pointer(key), value: before[key] })),
          ...Object.keys(before).map((key) => ({ op: 'remove', path: pointer(key) })),
          ...Object.entries(after).map(([key, value]) => ({ op: 'add', path: pointer(key), value })),
          { op: 'test', path: '', value: after },
        ];
        expect(equalJson(applyJsonPatch(before, patch), after)).toBe(true);
      }),
    );
  });

  it('names fields of operations that do not exist, and those that come twice, operation by operation', () => {
    const patch = [
      { op: 'add', path: '/a', value: 1, pth: 'x' },
      { op: 'test', path: '/b' },
      { op: 'test', pth: '/a' },
    ];
    expect(strangePatchFields(patch, ['duplicate field "[1].path"'])).toEqual([
      'json patch unknown field "[0].pth"',
      'json patch duplicate field "[1].path"',
      'json patch unknown field "[2].pth"',
    ]);
    expect(strangePatchFields({}, [])).toEqual([]);
  });

  it.each([
    ['"x"', 'json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
    ['{}', 'json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['[7]', 'json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    ['[{"op":"add","path":7}]', 'json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string'],
  ])('cannot read %s', (text, complaint) => {
    expect(() => applyJsonPatch({}, JSON.parse(text))).toThrow(`error decoding patch: ${complaint}`);
  });

  it('takes null for no operation at all', () => {
    expect(applyJsonPatch({ a: 1 }, null)).toEqual({ a: 1 });
  });
});
