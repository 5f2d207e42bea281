import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAll, firstMatch, JsonPathError, parseJsonPath, parseJsonPathTemplate, renderJsonPath } from './jsonpath.ts';

const task = {
  kind: 'Task',
  metadata: { name: 'x', labels: { 'app.kubernetes.io/name': 'web', plain: 'p' }, end: 'the end' },
  spec: { replicas: 3, ratio: 0.5, tiny: 0.00001, isDraft: false, nothing: null, empty: [], tags: ['a', 'b', 'c', 'd'] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', weight: 1 },
      { type: 'Synced', status: 'False', weight: 2, note: 'a ) b' },
      { type: 'Done', status: 'Unknown', weight: 3 },
    ],
  },
  html: { z: '<b>&', a: [1, { d: 1, c: 2 }] },
};
const list = { kind: 'List', items: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' }, spec: { n: 2 } }] };

const rendered = (text: string, value: unknown = task) => renderJsonPath(parseJsonPath(text), value, { allowMissingKeys: true });

describe('a path', () => {
  it.each([
    ['.metadata.name', 'x'],
    ['metadata.name', 'x'],
    ['{.metadata.name}', 'x'],
    ['{metadata.name}', 'x'],
    ['{$.metadata.name}', 'x'],
    ['{ .metadata.name }', 'x'],
    ["{['metadata']['name']}", 'x'],
    ["{.metadata['name']}", 'x'],
    ['{.metadata["name"]}', 'x'],
    ["{.['metadata'].name}", 'x'],
    ['metadata.end', 'the end'],
    ['.metadata.labels.app\\.kubernetes\\.io/name', 'web'],
    [".metadata.labels['app\\.kubernetes\\.io/name']", 'web'],
    [".metadata.labels['app.kubernetes.io/name']", 'web'],
    [".metadata['name','end']", 'x the end'],
    [".metadata['name', 'missing', 'end']", 'x the end'],
    ['.spec.replicas', '3'],
    ['.spec.ratio', '0.5'],
    ['.spec.tiny', '1e-05'],
    ['.spec.isDraft', 'false'],
    ['.spec.nothing', 'null'],
    ['.spec.missing', ''],
    ['.spec.missing.deeper', ''],
    ['.spec.empty', '[]'],
    ['.spec.empty[*]', ''],
    ['.spec.tags', '["a","b","c","d"]'],
    ['.spec.tags[0]', 'a'],
    ['.spec.tags[-1]', 'd'],
    ['.spec.tags[*]', 'a b c d'],
    ['.spec.tags[0:2]', 'a b'],
    ['.spec.tags[:2]', 'a b'],
    ['.spec.tags[2:]', 'c d'],
    ['.spec.tags[-2:]', 'c d'],
    ['.spec.tags[:-3]', 'a'],
    ['.spec.tags[::2]', 'a c'],
    ['.spec.tags[1:4:2]', 'b d'],
    ['.spec.tags[4:]', ''],
    ['.spec.tags[0,2]', 'a c'],
    ['.spec.tags[*].deeper', ''],
    ['.metadata.labels.*', 'web p'],
    ['..type', 'Ready Synced Done'],
    ['{..weight}', '1 2 3'],
    ['.spec.empty..*', ''],
    ['.status..status', 'True False Unknown'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True'],
    [".status.conditions[?(@.type=='Ready')].status", 'True'],
    ['.status.conditions[?( @.type == "Ready" )].status', 'True'],
    ['.status.conditions[?(@.type!="Ready")].type', 'Synced Done'],
    ['.status.conditions[?("Ready"==@.type)].status', 'True'],
    ['.status.conditions[?(@.weight>1)].type', 'Synced Done'],
    ['.status.conditions[?(@.weight>=2)].type', 'Synced Done'],
    ['.status.conditions[?(@.weight<2)].type', 'Ready'],
    ['.status.conditions[?(@.weight<=2.5)].type', 'Ready Synced'],
    ['.status.conditions[?(@.note)].type', 'Synced'],
    ['.status.conditions[?(@.note=="a ) b")].type', 'Synced'],
    ['.status.conditions[?(@.type==@.status)].type', ''],
    ['.spec.tags[?(@=="b")]', 'b'],
    ['.html', '{"a":[1,{"c":2,"d":1}],"z":"\\u003cb\\u003e\\u0026"}'],
    ['.kind.length', ''],
    ['.constructor', ''],
    ['.__proto__', ''],
    ['.spec.tags.length', ''],
  ])('%s gives %s', (text, expected) => {
    expect(rendered(text)).toBe(expected);
  });

  it('gives the value itself for @, $ and a lone dot', () => {
    for (const text of ['{@}', '{$}', '{.}']) expect(findAll(parseJsonPath(text), 5)).toEqual([[5]]);
  });

  it.each([
    ['.spec.missing', 'missing is not found'],
    ['.spec.tags[4]', 'array index out of bounds: index 4, length 4'],
    ['.spec.tags[-5]', 'array index out of bounds: index -1, length 4'],
    ['.spec.tags[0:5]', 'array index out of bounds: index 4, length 4'],
    ['.spec.tags[3:1]', 'starting index 3 is greater than ending index 1'],
    ['.spec[0]', 'a map is not an array and cannot be indexed'],
    ['.metadata[?(@.a=="b")]', 'a map is not an array and cannot be filtered'],
    ['.status.conditions[?(@.weight=="1")]', 'incompatible types for comparison'],
    ['.status.conditions[?(@.weight>true)]', 'incompatible types for comparison'],
    ['.status[?(@.a==1)]', 'a map is not an array and cannot be filtered'],
    ['.status.conditions[?(@.note=="x")]', 'note is not found'],
  ])('%s fails on the value: %s', (text, message) => {
    expect(() => renderJsonPath(parseJsonPath(text), task)).toThrow(new JsonPathError(message));
  });

  it('that does not fit the value has no first match', () => {
    expect(firstMatch(parseJsonPath('.spec.tags[9]'), task)).toBeUndefined();
    expect(firstMatch(parseJsonPath('.spec.x.y'), task)).toBeUndefined();
    expect(firstMatch(parseJsonPath('.spec.tags'), task)).toEqual(['a', 'b', 'c', 'd']);
    expect(firstMatch(parseJsonPath('.status.conditions[?(@.type=="Done")].weight'), task)).toBe(3);
  });
});

describe('a template', () => {
  it.each([
    ['{range .items[*]}{.metadata.name}{"\\n"}{end}', 'one\ntwo\n'],
    ['{range .items[*]}{.metadata.name}={.spec.n};{end}done', 'one=;two=2;done'],
    ['{range .items[*]}{range .metadata.*}[{@}]{end}|{end}', '[one]|[two]|'],
    ['{range .missing[*]}{.metadata.name}{end}!', '!'],
    ['{.kind}: {.items[*].metadata.name}', 'List: one two'],
    ['{.kind}{\'\\t\'}{"\\u0041\\x42"}', 'List\tAB'],
    ['just text', 'just text'],
    ['', ''],
  ])('%s prints %j', (text, expected) => {
    expect(renderJsonPath(parseJsonPathTemplate(text), list, { allowMissingKeys: true })).toBe(expected);
  });

  it('prints every path as an indented list when JSON is asked for', () => {
    expect(renderJsonPath(parseJsonPath('{.items[*].metadata}'), list, { asJson: true })).toBe(
      `${JSON.stringify([{ name: 'one' }, { name: 'two' }], null, 4)}\n`,
    );
  });
});

describe('a template that is wrong', () => {
  it.each([
    ['', 1, 'expected a path such as .metadata.name, found the end'],
    ['{.a', 4, 'expected . or [ or }, found the end'],
    ['{.a b}', 5, 'expected . or [ or }, found "b"'],
    ['.a]', 3, 'expected . or [ or the end, found "]"'],
    ['.a[', 4, 'expected an index, a range such as 0:2, *, or a key in quotes, found the end'],
    ['.a[]', 4, 'expected an index, a range such as 0:2, *, or a key in quotes, found "]"'],
    ['.a[x]', 4, 'expected an index, a range such as 0:2, *, or a key in quotes, found "x"'],
    ['.a[1', 5, 'expected ], found the end'],
    ['.a[1.5]', 4, 'expected a whole number, found "1"'],
    ['.a[0:1:0]', 9, 'expected a step above 0, found "]"'],
    [".a['b]", 4, 'expected \' at the end of the key, found "\'"'],
    ['{"b}', 2, 'expected " at the end of the quoted text, found "\\""'],
    ['{"\\q"}', 3, 'expected one of \\\\ \\\' \\" \\n \\t \\r \\xHH \\uHHHH, found "\\\\"'],
    ['.a[?(@.b=="c"]', 14, 'expected ), found "]"'],
    ['.a[?(@.b=~"c")]', 9, 'expected ) or one of == != <= >= < >, found "="'],
    ['.a[?(@.b==)]', 11, 'expected a value to compare with: a quoted text, a number, true, false or a path, found ")"'],
    ['.a[?(@.b==c)]', 11, 'expected a path or a quoted text, found "c"'],
    ['.a[?()]', 6, 'expected a condition such as @.type=="Ready", found ")"'],
    ['....a', 3, 'expected a name after .., found "."'],
    ['{range .items[*]}{.a}', 22, 'expected {end} after {range}, found the end'],
    ['{end}', 5, 'expected a range before {end}, found "}"'],
    [`${'.a[?(@'.repeat(20)}`, 66, 'expected at most 10 filters within each other, found "@"'],
  ])('%s is refused at position %d', (text, position, message) => {
    const parse = () => parseJsonPath(text);
    expect(parse).toThrow(JsonPathError);
    expect(parse).toThrow(expect.objectContaining({ position, message: expect.stringContaining(`at position ${position}: ${message}`) }));
  });

  it('is refused when it is longer than anybody would write', () => {
    expect(() => parseJsonPath('x'.repeat(16_385))).toThrow('expected at most 16384 characters');
    expect(parseJsonPath('x'.repeat(16_384)).fields).toHaveLength(1);
  });

  it('never fails in another way', () => {
    const alphabet = fc.constantFrom(...'.[]{}()?@$\'"\\*:,-0123456789=!<> abrangeend\n');
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 30 }), (text) => {
        try {
          renderJsonPath(parseJsonPath(text), task, { allowMissingKeys: true });
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPathError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the bounds', () => {
  it('stop a descent that would look at everything again and again', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 600; level++) deep = [deep];
    expect(() => renderJsonPath(parseJsonPath('{..*..*..*}'), deep)).toThrow('more than 5000000 values to look at');
  });

  it('survive a value that is nested deeper than the stack', () => {
    let deep: unknown = { name: 'bottom' };
    for (let level = 0; level < 100_000; level++) deep = { a: deep };
    expect(renderJsonPath(parseJsonPath('{..name}'), deep)).toBe('bottom');
  });
});
