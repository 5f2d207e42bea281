import { describe, expect, it } from 'vitest';
import { frontmatterLength, frontmatterOf, tagsOf } from './frontmatter.ts';

describe('frontmatter', () => {
  it.each([
    ['nothing', '# Title\n', {}],
    ['a block', '---\na: 1\nb: [x]\n---\ntext', { a: 1, b: ['x'] }],
    ['a block with Windows line ends', '---\r\na: 1\r\n---\r\ntext', { a: 1 }],
    ['an empty block', '---\n---\ntext', {}],
    ['a block that does not end', '---\na: 1\ntext', {}],
    ['a list', '---\n- a\n---\n', {}],
    ['broken YAML', '---\na: [\n---\n', {}],
    ['dates, which stay text', '---\nday: 2026-01-02\n---\n', { day: '2026-01-02' }],
    ['a tag that asks for a function', '---\na: !!js/function "function () {}"\n---\n', {}],
    ['bytes', '---\na: !!binary aGk=\n---\n', { a: 'aGk=' }],
    ['times', '---\nat: 2026-01-02T03:04:05Z\n---\n', { at: '2026-01-02T03:04:05.000Z' }],
  ])('of %s', (_name, content, want) => {
    expect(frontmatterOf(content)).toEqual(want);
  });

  it.each(['js', 'javascript', 'JavaScript', 'json', 'coffee', 'constructor', ' js'])('never runs or reads a block in %s', (language) => {
    const content = `---${language}\n(globalThis.wasRun = true, { "a": 1 })\n---\n`;
    expect(frontmatterOf(content)).toEqual({});
    expect('wasRun' in globalThis).toBe(false);
  });

  it('takes no key for a prototype', () => {
    const data = frontmatterOf(
      '---\n__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\nb:\n  <<: { __proto__: { polluted: 1 } }\n---\n',
    );
    expect([data['polluted'], (data['b'] as { polluted?: unknown }).polluted, ({} as { polluted?: unknown }).polluted]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('takes few aliases: some lines of them would stand for gigabytes, or for themselves', () => {
    const lines = Array.from(
      { length: 30 },
      (_value, index) => `a${index}: &a${index} [${index === 0 ? 'x' : `*a${index - 1}, *a${index - 1}`}]`,
    );
    expect(frontmatterOf(`---\n${lines.join('\n')}\n---\n`)).toEqual({});
    expect(frontmatterOf('---\na: &a [*a]\n---\n')).toEqual({});
    expect(frontmatterOf('---\na: &a [x]\nb: *a\n---\n')).toEqual({ a: ['x'], b: ['x'] });
  });

  it('is not read when it is larger or deeper than any that makes sense', () => {
    for (const value of ['x'.repeat(100_000), '['.repeat(16_000), `\n  ${'- '.repeat(8_000)}`, '{a: '.repeat(4_000)]) {
      expect(frontmatterOf(`---\na: ${value}\n---\n`)).toEqual({});
    }
  });

  it('ends behind its second fence', () => {
    expect(frontmatterLength('---\na: 1\n---\ntext')).toBe('---\na: 1\n---\n'.length);
    expect(frontmatterLength('---\n---')).toBe('---\n---'.length);
    expect(frontmatterLength('----\na\n---\n')).toBe(0);
  });

  it('has tags as a list or as words', () => {
    expect(tagsOf({ tags: ['a', '#b', 3] })).toEqual(['a', 'b', '3']);
    expect(tagsOf({ tags: 'a, b  #c' })).toEqual(['a', 'b', 'c']);
    expect(tagsOf({ tags: { a: 1 } })).toEqual([]);
  });
});
