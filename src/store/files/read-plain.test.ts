import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { emitYaml } from '#lib/emit-yaml.ts';
import { readPlain } from './read-plain.ts';

const word = fc.oneof(
  fc.string(),
  fc.constantFrom('a', 'spec', 'a: b', '- a', 'yes', '#', 'x #y', '1', 'a\nb\n', 'a\n\nb', 'two\n\n', ' a', '"', '|', 'é😀', ''),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(word, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('readPlain', () => {
  it('never says anything else than the YAML parser, on whatever text', () => {
    fc.assert(
      fc.property(
        fc.dictionary(word, tree, { minKeys: 1, maxKeys: 5, noNullPrototype: true }),
        fc.nat(),
        fc.string({ maxLength: 3 }),
        (value, position, noise) => {
          const text = emitYaml(JSON.parse(JSON.stringify(value)));
          const at = position % (text.length + 1);
          for (const candidate of [text, text.slice(0, at) + noise + text.slice(at), text.slice(0, at) + text.slice(at + 1)]) {
            const read = readPlain(candidate);
            if (read !== undefined) expect(parse(candidate)).toEqual(read);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('reads a resource as we write it', () => {
    const task = {
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name: 'a', labels: { on: 'yes', 'a/b': '1' }, resourceVersion: '7', generation: 1 },
      spec: {
        command: 'make\nmake test\n',
        env: {},
        tags: [],
        priority: 3,
        items: [{ name: 'x', n: 1.5, none: null }, 'plain', 'a: b', true],
      },
      status: { conditions: [{ type: 'Ready', status: 'True', message: '' }] },
    };
    expect(readPlain(emitYaml(task))).toEqual(task);
  });

  it.each(['# a comment\na: 1\n', 'a: 1 # why\n', 'a: [1, 2]\n', 'a:   1\n', "a: 'x'\n", 'a: 1', '', '- a\n', 'a: &x 1\n', 'a: 1\na: 2\n'])(
    'leaves %j to the parser',
    (text) => {
      expect(readPlain(text)).toBeUndefined();
    },
  );
});
