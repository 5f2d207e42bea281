import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toYaml } from './to-yaml.ts';

describe('YAML as kubectl prints it', () => {
  it.each([
    { value: { b: 1, a: { d: [], c: {} } }, want: 'a:\n  c: {}\n  d: []\nb: 1\n' },
    { value: { a: [{ y: 1, x: 2 }, 'z', ['p', 'q']] }, want: 'a:\n- x: 2\n  "y": 1\n- z\n- - p\n  - q\n' },
    { value: { t: '2024-01-01T00:00:00Z', d: '2024-01-01' }, want: 'd: "2024-01-01"\nt: "2024-01-01T00:00:00Z"\n' },
    {
      value: ['true', 'no', 'null', '~', '', '1', '0x1f', '1e3', '1:30', '.5'],
      want: '- "true"\n- "no"\n- "null"\n- "~"\n- ""\n- "1"\n- "0x1f"\n- "1e3"\n- "1:30"\n- ".5"\n',
    },
    {
      value: ['a: b', '- a', '#x', 'a #b', ' a', 'a ', "it's", '*', '@a', '[x'],
      want: "- 'a: b'\n- '- a'\n- '#x'\n- 'a #b'\n- ' a'\n- 'a '\n- it's\n- '*'\n- '@a'\n- '[x'\n",
    },
    {
      value: ['1.2.3', 'v1', 'a:b', '-a', 'http://x:1', 'a, b', 'sha256:0a'],
      want: '- 1.2.3\n- v1\n- a:b\n- -a\n- http://x:1\n- a, b\n- sha256:0a\n',
    },
    { value: { a: 'one\ntwo\n', b: 'one\ntwo', c: 'one\n\n' }, want: 'a: |\n  one\n  two\nb: |-\n  one\n  two\nc: |+\n  one\n\n' },
    { value: { a: ['one\n  two\n'], b: '  one\ntwo' }, want: 'a:\n- |\n  one\n    two\nb: |2-\n    one\n  two\n' },
    {
      value: { a: 'tab\there', b: 'bell\u0007', c: 'x \ny', d: 'cr\r\n' },
      want: 'a: "tab\\there"\nb: "bell\\a"\nc: "x \\ny"\nd: "cr\\r\\n"\n',
    },
    { value: { a: null, b: true, c: 1.5, d: 1e21, e: -0.001 }, want: 'a: null\nb: true\nc: 1.5\nd: 1e+21\ne: -0.001\n' },
    { value: 'x', want: 'x\n' },
    { value: [], want: '[]\n' },
  ])('$want', ({ value, want }) => {
    expect(toYaml(value)).toBe(want);
  });

  it('means what the data was', () => {
    const line = fc.string({ unit: fc.constantFrom(...'abn1 0:-#\'"\n\t.,[]{}?!&*|>%@`~=<\\\r\u00e9\u2028😀') });
    const leaf = fc.oneof(
      line,
      fc.string(),
      fc.constantFrom('true', 'null', '0o7', '1_000', '<<', '---', '...'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(line, tie('value'))),
    }));
    fc.assert(
      fc.property(value, (data) => {
        expect(parse(toYaml(data))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
      { numRuns: 2_000 },
    );
  });
});
