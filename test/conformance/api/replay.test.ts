import { describe, expect, it } from 'vitest';
import { readGolden } from './golden.ts';
import { complaints } from './replay.ts';
import { scenarios } from './scenarios/index.ts';

const request = { method: 'GET', path: '/' };
const scenario = { name: 's', steps: ['a', 'b 1', 'b 2'].map((name) => ({ name, request })) };
const answers = (...bodies: string[]) =>
  Object.fromEntries(bodies.map((body, index) => [scenario.steps[index]?.name ?? '', { status: 200, headers: {}, body }]));
const judge = (got: string[], known = {}) => complaints(scenario, { golden: answers('x', 'x', 'x'), got: answers(...got), known });

describe('complaints', () => {
  it.each([
    ['none about equal answers', ['x', 'x', 'x'], {}, []],
    ['a difference', ['y', 'x', 'x'], {}, [/^s\/a: body/]],
    ['none about a known difference', ['y', 'x', 'x'], { 's/a': 'why' }, []],
    ['a known difference that is gone', ['x', 'x', 'x'], { 's/a': 'why' }, [/^s\/a: known \(why\), but/]],
    ['none about many known differences', ['x', 'y', 'x'], { 's/b *': 'why' }, []],
    ['many known differences that are gone', ['x', 'x', 'x'], { 's/b *': 'why' }, [/^s\/b \*: known/]],
    ['none about what is known of other scenarios', ['x', 'x', 'x'], { 't/a': 'why' }, []],
    ['an answer that is missing', ['x', 'x'], {}, [/^s\/b 2: not answered/]],
  ])('are %s', (_name, got, known, want) => {
    expect(judge(got, known)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe('scenarios', () => {
  it('have names of their own', () => {
    const names = scenarios.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it.each(scenarios.map((one) => [one.name, one] as const))('%s is recorded, step by step', (_name, { name, steps }) => {
    expect(Object.keys(readGolden(name))).toEqual(steps.filter(({ silent }) => silent !== true).map((step) => step.name));
  });
});
