import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { duplicatesInJson, hasDuplicates } from './duplicates.ts';
import { parseYamlBody } from './yaml-body.ts';

const paths = (text: string) => duplicatesInJson(text).map(({ path }) => path);

describe('duplicatesInJson', () => {
  it.each([
    ['{}', []],
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"spec":{"x":1,"y":2,"y":3},"spec":{}}', ['spec.y', 'spec']],
    ['{"spec":{"a":[{"b":1,"b":2},{"c":[[{"d":1,"d":1}]]}]}}', ['spec.a[0].b', 'spec.a[1].c[0][0].d']],
    ['{"a":"\\"}{,\\\\","a":1}', ['a']],
    ['{"\\u0061":1,"a":2}', ['a']],
    ['{"a\\\\":1,"a":2}', []],
    ['{"metadata":{"labels":{"app.kubernetes.io/name":"x","app.kubernetes.io/name":"y"}}}', ['metadata.labels.app.kubernetes.io/name']],
    ['{ "a" : [1, 2, {"x": 1}] , "b":"a,a" , "a" : {"x":1} }', ['a']],
    ['{"__proto__":1,"constructor":2,"__proto__":3}', ['__proto__']],
    ['[{"a":1,"a":2}]', ['[0].a']],
    ['"a"', []],
  ])('finds in %s %j', (text, expected) => {
    expect(paths(text)).toEqual(expected);
    expect(hasDuplicates(text, JSON.parse(text))).toBe(expected.length > 0);
  });

  it('knows the line and the key', () => {
    expect(duplicatesInJson('{\n "a": {\n  "b": 1,\n  "b": 2 }\n}')).toEqual([{ path: 'a.b', key: 'b', line: 4 }]);
  });

  it('stops at a hundred', () => {
    const text = `{${Array.from({ length: 300 }, (_, at) => `"k${at >> 1}":1`).join(',')}}`;
    expect(duplicatesInJson(text)).toHaveLength(100);
  });

  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value)),
      fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
      fc
        .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"\\u0062"', '"c\\""', '"d\\\\"', '"e,}"', '"f.g"'), tie('json')), { maxLength: 4 })
        .map((members) => `{ ${members.map(([key, value]) => `${key}: ${value}`).join(',')} }`),
    ),
  }));

  it('finds what the YAML parser finds', () => {
    fc.assert(
      fc.property(json, (text) => {
        const expected: string[] = [];
        const visit = (node: unknown, path: string): void => {
          if (isSeq(node)) node.items.forEach((item, index) => void visit(item, `${path}[${index}]`));
          if (!isMap(node)) return;
          const seen = new Set<unknown>();
          for (const { key, value } of node.items) {
            const name = isScalar(key) ? String(key.value) : '';
            const at = path === '' ? name : `${path}.${name}`;
            if (seen.has(name)) expected.push(at);
            seen.add(name);
            visit(value, at);
          }
        };
        visit(parseDocument(text, { uniqueKeys: false }).contents, '');
        expect(new Set(paths(text))).toEqual(new Set(expected));
      }),
    );
  });

  it('finds nothing in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(duplicatesInJson(JSON.stringify(value))).toEqual([]);
      }),
    );
  });
});

describe('duplicates in YAML', () => {
  it('are told with path and line', () => {
    const text = 'spec:\n  a: 1\n  list:\n    - b: 1\n      b: 2\n  a: 2\nother:\n  x: 1\n';
    expect(parseYamlBody(text).duplicates()).toEqual([
      { path: 'spec.list[0].b', key: 'b', line: 5 },
      { path: 'spec.a', key: 'a', line: 6 },
    ]);
    expect(parseYamlBody(text).value).toEqual({ spec: { a: 2, list: [{ b: 2 }] }, other: { x: 1 } });
  });
});
