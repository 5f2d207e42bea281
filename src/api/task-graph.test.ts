import { describe, expect, it } from 'vitest';
import { circlesFrom, circleThrough, inOrderOfNeed } from './task-graph.ts';

const graph = (edges: Readonly<Record<string, readonly string[]>>) => (task: string) => edges[task] ?? [];

describe('circlesFrom', () => {
  it.each([
    { name: 'none in a diamond', edges: { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }, want: [] },
    { name: 'none where a dependency does not exist', edges: { a: ['gone'] }, want: [] },
    { name: 'a pair', edges: { a: ['b'], b: ['a'] }, want: [['a', 'b', 'a']] },
    { name: 'itself', edges: { a: ['a'] }, want: [['a', 'a']] },
    { name: 'one further down', edges: { a: ['b'], b: ['c'], c: ['d'], d: ['b'] }, want: [['b', 'c', 'd', 'b']] },
    {
      name: 'two',
      edges: { a: ['b'], b: ['a'], c: ['d'], d: ['c', 'a'] },
      want: [
        ['a', 'b', 'a'],
        ['c', 'd', 'c'],
      ],
    },
  ])('finds $name', ({ edges, want }) => {
    expect(circlesFrom(Object.keys(edges), graph(edges as Record<string, string[]>))).toEqual(want);
  });

  it('asks for the dependencies of each task once, also in a chain far deeper than the stack', () => {
    const asked: number[] = [];
    const dependenciesOf = (task: string) => {
      const number = Number(task);
      asked.push(number);
      return number === 0 ? ['99999'] : [String(number - 1)];
    };
    expect(circlesFrom(['5', '99999', '7'], dependenciesOf)).toHaveLength(1);
    expect(asked).toHaveLength(100_000);
  });
});

it('circleThrough tells only of a circle that the task itself is in', () => {
  const dependenciesOf = graph({ a: ['b'], b: ['c'], c: ['b'], d: ['e'], e: ['d'] });
  expect(circleThrough('a', dependenciesOf)).toBeUndefined();
  expect(circleThrough('d', dependenciesOf)).toEqual(['d', 'e', 'd']);
});

it('circleThrough sees the way back past a circle that was met first', () => {
  expect(circleThrough('a', graph({ a: ['b'], b: ['c', 'a'], c: ['b'] }))).toEqual(['a', 'b', 'a']);
});

it('inOrderOfNeed puts what is needed first, and leaves the rest as it stands', () => {
  const needs = graph({ z: ['y', 'x'], y: ['x'], a: ['b'], b: ['a'] });
  expect(inOrderOfNeed(['m', 'z', 'y', 'x', 'a', 'b'], needs)).toEqual(['m', 'x', 'y', 'z', 'b', 'a']);
});
