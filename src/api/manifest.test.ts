import { describe, expect, it } from 'vitest';
import type { JsonPath } from '#lib/json.ts';
import { MAX_DOCUMENT_BYTES, parseManifest } from './manifest.ts';

const TEAM = `# a team
kind: Team
metadata:
  name: a # with a comment
  labels: {tier: one, 'odd key': two}
spec:
  roles:
    - name: first
      count: 2
    - {name: second, count: 3}
  "quoted": yes
---
kind: Task
spec:
- 1
`;

function located(text: string, path: JsonPath, index = 0): string {
  const { line, column } = parseManifest(text).documents[index]?.locate(path) ?? { line: 0, column: 0 };
  return `${line}:${column}`;
}

describe('locate', () => {
  it.each<[path: JsonPath, want: string]>([
    [[], '2:1'],
    [['kind'], '2:1'],
    [['metadata', 'name'], '4:3'],
    [['metadata', 'labels', 'tier'], '5:12'],
    [['metadata', 'labels', 'odd key'], '5:23'],
    [['spec', 'roles'], '7:3'],
    [['spec', 'roles', 0], '8:7'],
    [['spec', 'roles', 0, 'count'], '9:7'],
    [['spec', 'roles', 1, 'count'], '10:22'],
    [['spec', 'quoted'], '11:3'],
  ])('finds the key of %j at %s', (path, want) => {
    expect(located(TEAM, path)).toBe(want);
  });

  it.each<[path: JsonPath, want: string]>([
    [['spec', 'missing'], '6:1'],
    [['spec', 'roles', 0, 'image'], '8:7'],
    [['spec', 'roles', 7, 'count'], '7:3'],
    [['metadata', 'name', 'deeper'], '4:3'],
    [['nothing'], '2:1'],
  ])('points at the nearest parent of the missing %j, at %s', (path, want) => {
    expect(located(TEAM, path)).toBe(want);
  });

  it('counts lines from the start of the file in every document', () => {
    expect(located(TEAM, ['kind'], 1)).toBe('13:1');
    expect(located(TEAM, ['spec', 0], 1)).toBe('15:3');
  });

  it.each([
    { name: 'a byte order mark', text: `\uFEFFkind: Team\nmetadata:\n  name: a\n` },
    { name: 'Windows line ends', text: 'kind: Team\r\nmetadata:\r\n  name: a\r\n' },
  ])('is not confused by $name', ({ text }) => {
    expect(parseManifest(text)).toMatchObject({ problems: [], documents: [{ value: { kind: 'Team', metadata: { name: 'a' } } }] });
    expect(located(text, ['metadata', 'name'])).toBe('3:3');
  });
});

describe('merge keys', () => {
  const text = `kind: Team
spec:
  roles:
    - &base {name: a, image: x, limits: {cpu: 1}}
    - {<<: *base, name: b}
    - name: c
      <<: [{image: y}, *base]
    - '<<': text
`;

  it('give a map the fields of another that it does not have itself', () => {
    const { documents, problems } = parseManifest(text);
    expect(problems).toEqual([]);
    expect(documents[0]?.value['spec']).toEqual({
      roles: [
        { name: 'a', image: 'x', limits: { cpu: 1 } },
        { name: 'b', image: 'x', limits: { cpu: 1 } },
        { name: 'c', image: 'y', limits: { cpu: 1 } },
        { '<<': 'text' },
      ],
    });
  });

  it.each<[path: JsonPath, want: string]>([
    [['spec', 'roles', 1, 'name'], '5:19'],
    [['spec', 'roles', 1, 'image'], '4:23'],
    [['spec', 'roles', 1, 'limits', 'cpu'], '4:42'],
    [['spec', 'roles', 2, 'image'], '7:13'],
    [['spec', 'roles', 2, 'missing'], '6:7'],
    [['spec', 'roles', 3, '<<'], '8:7'],
  ])('lead from %j to where it is written, %s', (path, want) => {
    expect(located(text, path)).toBe(want);
  });

  it('lead through an alias, too', () => {
    expect(located('a: &x\n  b: 1\nc: *x\n', ['c', 'b'])).toBe('2:3');
  });
});

describe('bytes', () => {
  it('are read as UTF-8', () => {
    expect(parseManifest(Buffer.from('\uFEFFkind: Täam \uFFFD\n')).documents[0]?.value).toEqual({ kind: 'Täam \uFFFD' });
  });

  it.each([
    { name: 'Latin-1', bytes: Buffer.from('kind: Team\nspec:\n  ä: b\xe4r\n', 'latin1'), want: { line: 3, column: 3, byte: '0xe4' } },
    {
      name: 'UTF-16',
      bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('kind: Team\n', 'utf16le')]),
      want: { line: 1, column: 1, byte: '0xff' },
    },
    {
      name: 'half a character at the end',
      bytes: Buffer.concat([Buffer.from('kind: ä'), Buffer.from([0xe2, 0x82])]),
      want: { line: 1, column: 8, byte: '0xe2' },
    },
    {
      name: 'a surrogate',
      bytes: Buffer.concat([Buffer.from('a: '), Buffer.from([0xed, 0xa0, 0x80])]),
      want: { line: 1, column: 4, byte: '0xed' },
    },
  ])('that are $name are refused where they begin', ({ bytes, want: { byte, ...at } }) => {
    expect(parseManifest(bytes)).toEqual({
      documents: [],
      problems: [{ ...at, message: `not UTF-8 text (byte ${byte}); save the file as UTF-8` }],
    });
  });
});

describe('parseManifest', () => {
  it.each([
    { name: 'an empty text', text: '' },
    { name: 'only comments', text: '# nothing\n# here\n' },
    { name: 'only separators', text: '---\n---\n' },
  ])('finds no document in $name', ({ text }) => {
    expect(parseManifest(text)).toEqual({ documents: [], problems: [] });
  });

  it('skips empty documents between others', () => {
    expect(parseManifest('---\nkind: A\n---\n# nothing\n---\nkind: B\n').documents.map(({ value }) => value['kind'])).toEqual(['A', 'B']);
  });

  it.each([
    {
      name: 'a key that stands twice',
      text: 'kind: Team\nspec:\n  a: 1\n  b: 2\n  a: 3\n',
      want: { line: 5, column: 3, message: 'duplicate key "a"; keep one of them' },
    },
    {
      name: 'a tab as indent',
      text: 'kind: Team\nspec:\n\ta: 1\n',
      want: { line: 3, column: 1, message: 'a tab cannot indent YAML; use spaces' },
    },
    {
      name: 'a list where a resource belongs',
      text: '- a\n- b\n',
      want: { line: 1, column: 1, message: expect.stringContaining('expected a resource: a mapping with apiVersion') },
    },
    {
      name: 'plain text',
      text: 'kind: Team\n---\nhello\n',
      want: { line: 3, column: 1, message: expect.stringContaining('expected a resource') },
    },
    { name: 'an open bracket', text: 'kind: Team\nspec: [1, 2\n', want: { line: 3, column: 1, message: expect.stringContaining(']') } },
    { name: 'an alias without its anchor', text: 'kind: Team\nspec: *gone\n', want: { message: expect.stringContaining('gone') } },
    {
      name: 'a quote that stays open',
      text: 'kind: Team\nspec: "x\n',
      want: { message: 'a text that begins with " does not end; add the closing "' },
    },
    {
      name: 'a colon in a text',
      text: 'kind: Team\nspec: note: this\n',
      want: { line: 2, column: 7, message: 'a second ": " in one line; put the text in quotes' },
    },
    {
      name: 'a key without a colon',
      text: 'kind: Team\nspec\n',
      want: { line: 2, column: 1, message: expect.stringContaining('there is no ":" after the key') },
    },
    {
      name: 'a line indented by one too few',
      text: 'kind: Team\nspec:\n  a: 1\n b: 2\n',
      want: { line: 4, message: 'indented unlike the lines before it; align it with them' },
    },
    {
      name: 'a value that begins with @',
      text: 'kind: Team\nspec: @me\n',
      want: { line: 2, column: 7, message: expect.stringMatching(/^a value cannot begin with .*@.*; put it in quotes$/) },
    },
    {
      name: 'an alias inside its own anchor',
      text: 'kind: Team\nspec: &a\n  b: [1, *a]\n',
      want: { line: 3, column: 10, message: '*a stands inside what it stands for; write it out' },
    },
    {
      name: 'a merge of what is no map',
      text: 'kind: Team\nspec:\n  - &a [1]\n  - {<<: *a}\n',
      want: { line: 4, column: 6, message: '<< takes a map or a list of maps' },
    },
    {
      name: 'a date by tag',
      text: 'kind: Team\nspec:\n  at: !!timestamp 2026-01-02\n',
      want: {
        line: 3,
        column: 3,
        message: 'spec.at is not plain data; only text, numbers, true, false, null, lists and maps are accepted',
      },
    },
    {
      name: 'bytes by tag',
      text: 'kind: Team\nspec: {data: !!binary aGVsbG8=}\n',
      want: { line: 2, column: 8, message: expect.stringMatching(/^spec\.data is not plain data/) },
    },
    {
      name: 'a set by tag',
      text: 'kind: Team\nspec:\n  - !!set {a, b}\n',
      want: { line: 3, message: expect.stringMatching(/^spec\[0\] is not plain data/) },
    },
    {
      name: 'a number that is none',
      text: 'kind: Team\nspec: {a: .nan}\n',
      want: { line: 2, column: 8, message: expect.stringMatching(/^spec\.a is not plain data/) },
    },
    {
      name: 'a number without end',
      text: 'kind: Team\nspec: {a: -.inf}\n',
      want: { line: 2, column: 8, message: expect.stringMatching(/^spec\.a is not plain data/) },
    },
    {
      name: 'a key that would be no key',
      text: 'kind: Team\nspec:\n  __proto__: {a: 1}\n',
      want: { line: 3, column: 3, message: expect.stringContaining('__proto__') },
    },
  ])('refuses $name and says where', ({ text, want }) => {
    const { problems } = parseManifest(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject(want);
  });

  it('refuses every document with an error in it, and all of them when one is not YAML', () => {
    const { documents, problems } = parseManifest('kind: A\n---\nkind: [\n---\nkind: B\nkind: B\n');
    expect(documents).toEqual([]);
    expect(problems.map(({ line }) => line)).toEqual([4, 6]);
  });

  it('allows anchors and aliases', () => {
    const { documents, problems } = parseManifest('kind: Team\na: &x {b: 1}\nc: *x\n');
    expect(problems).toEqual([]);
    expect(documents[0]?.value).toEqual({ kind: 'Team', a: { b: 1 }, c: { b: 1 } });
  });

  it('does not explode on aliases of aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) =>
        `a${level}: &a${level} [${Array(9)
          .fill(level === 0 ? 'x' : `*a${level - 1}`)
          .join(', ')}]`,
    );
    const { documents, problems } = parseManifest(`${levels.join('\n')}\n`);
    expect(documents).toEqual([]);
    // The first line whose aliases pass the limit.
    expect(problems).toEqual([
      { line: 6, column: 45, message: 'aliases make this more than 1 MiB; write out less, or refer to smaller parts' },
    ]);
  });

  it('takes hundreds of references to one anchor, as kubectl does', () => {
    const { documents, problems } = parseManifest(`a: &x {b: 1}\nc:\n${'- *x\n'.repeat(500)}`);
    expect(problems).toEqual([]);
    expect(documents[0]?.value['c']).toHaveLength(500);
  });

  it('does not explode on merges of merges', () => {
    const levels = Array.from({ length: 30 }, (_, at) => `a${at}: &a${at} {x: {<<: *a${at - 1}}, y: {<<: *a${at - 1}}}`);
    levels[0] = 'a0: &a0 {x: 1, y: 2}';
    expect(parseManifest(`${levels.join('\n')}\n`).problems[0]?.message).toMatch(/^aliases make this more than 1 MiB/);
  });

  it.each([
    { name: 'flow lists', text: `a: ${'['.repeat(8_000)}${']'.repeat(8_000)}\n` },
    { name: 'flow maps', text: `${'{a: '.repeat(2_000)}1${'}'.repeat(2_000)}\n` },
    { name: 'block lists', text: `a:\n  ${'- '.repeat(5_000)}x\n` },
    { name: 'lists just over the limit', text: `a: ${'['.repeat(101)}${']'.repeat(101)}\n` },
  ])('refuses $name nested too deeply', ({ text }) => {
    const { documents, problems } = parseManifest(text);
    expect(documents).toEqual([]);
    expect(problems[0]?.message).toMatch(/^nested too deeply/);
  });

  it('accepts what a person would nest', () => {
    expect(parseManifest(`a: ${'['.repeat(100)}${']'.repeat(100)}\n`).problems).toEqual([]);
  });

  it('refuses a text larger than one object may be', () => {
    const { problems } = parseManifest(`a: ${'x'.repeat(MAX_DOCUMENT_BYTES)}\n`);
    expect(problems).toEqual([{ line: 1, column: 1, message: 'too large: 1048580 bytes; at most 1048576 (1 MiB) are accepted' }]);
  });
});
