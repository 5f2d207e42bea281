import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { emitYaml } from '#lib/emit-yaml.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    'yes',
    'null',
    '1e3',
    '0x10',
    '- a',
    'a: b',
    'a #b',
    '#',
    '',
    ' ',
    'a\nb',
    'a\n',
    '\n',
    'a\n\n',
    '  a\nb',
    'a\t\nb',
    '2024-01-01',
    '=',
    '<<',
    '!x',
    '&a',
    '*a',
    '%',
    '@',
    '`',
    '|',
    '>',
    "'",
    '"',
    '\u2028',
    '\u0085',
    '-',
    '---',
    '...',
    '? a',
    'a:',
    ':a',
    '~',
    '.5',
    'key: |',
  ),
  fc
    .array(fc.constantFrom('a', ' ', '\n', ':', '#', '-', '\t', "'", '"', '\\', 'é', '😀', '\r'), { maxLength: 12 })
    .map((parts) => parts.join('')),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('emitYaml', () => {
  it('writes what the YAML parser reads back as the same value', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        expect(parse(emitYaml(json))).toEqual(json);
      }),
      { numRuns: 2000 },
    );
  });

  it('writes as a person would', () => {
    const value = {
      name: 'a-b',
      on: 'yes',
      count: 3,
      empty: {},
      none: [],
      time: '2026-01-02T03:04:05Z',
      message: 'waiting for the workspace: 3 of 4',
      steps: [{ name: 'x', run: 'make\nmake test\n' }, 'plain'],
    };
    expect(emitYaml(value)).toBe(
      [
        'name: a-b',
        '"on": "yes"',
        'count: 3',
        'empty: {}',
        'none: []',
        'time: "2026-01-02T03:04:05Z"',
        'message: "waiting for the workspace: 3 of 4"',
        'steps:',
        '  - name: x',
        '    run: |',
        '      make',
        '      make test',
        '  - plain',
        '',
      ].join('\n'),
    );
  });
});
