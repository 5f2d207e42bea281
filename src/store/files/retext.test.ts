import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { emitYaml } from '#lib/emit-yaml.ts';
import type { JsonObject } from '#lib/json.ts';
import { rewriteText } from './retext.ts';

const TEXT = `# The team of the shop.
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata:
  name: shop # its name
spec:
  # How many.
  budget:
    maxAgents: 3 # three

  roles:
    # The first one.
    - name: lead
      description: 'quoted text' # why
    # The second one.
    - name: worker
      count: 2
      skills: [a, b] # flow
  description: |
    Several
    lines.
  suspend: false

# The end.
`;

const parsed = () =>
  parse(TEXT) as JsonObject & { spec: { budget: JsonObject; roles: JsonObject[]; description: string }; metadata: JsonObject };
const commentsIn = (text: string) => [...text.matchAll(/#.*/g)].map(([comment]) => comment);

function rewritten(change: (value: ReturnType<typeof parsed>) => void): string {
  const next = parsed();
  change(next);
  const result = rewriteText(TEXT, next);
  expect(parse(result)).toEqual(next);
  return result;
}

describe('rewriteText', () => {
  it('leaves a text alone that says what it should', () => {
    expect(rewriteText(TEXT, parsed())).toBe(TEXT);
  });

  it('changes the value and nothing else', () => {
    const text = rewritten((next) => {
      next.spec.budget['maxAgents'] = 5;
      Object.assign(next.spec.roles[0] as JsonObject, { description: 'other text' });
    });
    expect(text).toBe(TEXT.replace('maxAgents: 3', 'maxAgents: 5').replace('quoted text', 'other text'));
  });

  it('keeps every comment, whatever the values become', () => {
    const scalar = fc.oneof(
      fc.integer(),
      fc.string({ maxLength: 12 }),
      fc.constantFrom('a\nb\n', '', ' x', 'yes', '- a', 'a: b', '#no', 'null'),
      fc.boolean(),
    );
    fc.assert(
      fc.property(scalar, scalar, scalar, scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }), (a, b, c, d, list) => {
        const next = parsed();
        next.metadata['name'] = a;
        next.spec.budget['maxAgents'] = b;
        Object.assign(next.spec.roles[0] as JsonObject, { description: c });
        Object.assign(next.spec.roles[1] as JsonObject, { skills: list });
        next.spec.description = d as string;
        const text = rewriteText(TEXT, next);
        expect(parse(text)).toEqual(next);
        for (const comment of commentsIn(TEXT)) expect(text).toContain(comment);
      }),
      { numRuns: 200, examples: [[0, false, 0, ' ', ['']]] },
    );
  });

  it('adds and removes named entries and leaves the others as they are written', () => {
    const text = rewritten((next) => {
      next.spec.roles.shift();
      next.spec.roles.push({ name: 'new', count: 1 });
    });
    expect(text).not.toContain('lead');
    expect(text).toContain(
      '    # The second one.\n    - name: worker\n      count: 2\n      skills: [a, b] # flow\n    - name: new\n      count: 1\n',
    );
  });

  it('moves the text of a named entry along with it', () => {
    const text = rewritten((next) => void next.spec.roles.reverse());
    expect(text).toMatch(/# The second one\.\n {4}- name: worker[^-]*- name: lead\n {6}description: 'quoted text' # why\n/);
  });

  it.each([
    { name: 'removed', tags: ['b', 'c'], want: 'tags:\n  - b # second\n  - c # third\n' },
    { name: 'added', tags: ['new', 'a', 'b', 'c'], want: 'tags:\n  - new\n  - a # first\n  - b # second\n  - c # third\n' },
    { name: 'changed', tags: ['a', 'B', 'c'], want: 'tags:\n  - a # first\n  - B # second\n  - c # third\n' },
  ])('keeps the comments of plain entries with them when one is $name', ({ tags, want }) => {
    expect(rewriteText('tags:\n  - a # first\n  - b # second\n  - c # third\n', { tags })).toBe(want);
  });

  it('adds new keys at the end and removes those that are gone', () => {
    const text = rewritten((next) => {
      delete next.spec.budget['maxAgents'];
      next.spec.budget['maxDepth'] = 1;
      Object.assign(next, { status: { phase: 'Ready' } });
    });
    expect(text).toContain('  budget:\n    maxDepth: 1\n');
    expect(text).toMatch(/status:\n {2}phase: Ready\n/);
    expect(text).toContain('# The end.');
  });

  it.each([
    { name: 'lists that are not indented', text: 'spec:\n  roles:\n  - name: a # one\n    n: 1\n  - name: b\n' },
    { name: 'an indent of four', text: 'spec:\n    roles:\n        - name: a # one\n          n: 1\n    other: 1\n' },
    { name: 'long lines', text: `spec:\n  roles:\n    - name: a\n      n: 1\n  text: ${'word '.repeat(60)}end\n` },
    { name: 'Windows line ends', text: 'spec:\r\n  roles:\r\n    - name: a # one\r\n      n: 1\r\n' },
  ])('keeps $name', ({ text }) => {
    const next = parse(text) as { spec: { roles: { n: number }[] } };
    Object.assign(next.spec.roles[0] as object, { n: 2 });
    expect(rewriteText(text, next)).toBe(text.replace('n: 1', 'n: 2'));
  });

  it('takes anchors and aliases apart where they no longer mean the same', () => {
    const text = 'a: &x {n: 1} # shared\nb: *x\n';
    expect(parse(rewriteText(text, { a: { n: 1 }, b: { n: 2 } }))).toEqual({ a: { n: 1 }, b: { n: 2 } });
    expect(parse(rewriteText(text, { a: { n: 2 }, b: { n: 1 } }))).toEqual({ a: { n: 2 }, b: { n: 1 } });
    expect(parse(rewriteText(text, { b: { n: 1 } }))).toEqual({ b: { n: 1 } });
  });

  it.each([
    { name: 'is not YAML', text: 'a: [1\n' },
    { name: 'is not a map', text: '- a\n' },
    { name: 'is empty', text: '' },
    { name: 'has two documents', text: 'a: 1\n---\nb: 2\n' },
  ])('writes plainly over a text that $name', ({ text }) => {
    expect(rewriteText(text, { a: { b: [1] } })).toBe(emitYaml({ a: { b: [1] } }));
  });

  it('always says exactly what it should, whatever was there', () => {
    const leaf = fc.oneof(fc.integer({ max: 9, min: 0 }), fc.constantFrom('x', 'y z', '', 'a\nb'), fc.boolean());
    const tree = fc.letrec<{ node: unknown; map: JsonObject }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        leaf,
        tie('map'),
        fc.array(leaf, { maxLength: 3 }),
        fc.array(tie('map'), { maxLength: 2 }),
      ),
      map: fc.dictionary(fc.constantFrom('name', 'b', 'c'), tie('node'), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(tree.map, tree.map, (before, after) => {
        expect(parse(rewriteText(emitYaml(before), after))).toEqual(after);
      }),
      { numRuns: 200 },
    );
  });
});
