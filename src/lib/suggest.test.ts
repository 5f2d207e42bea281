import { describe, expect, it } from 'vitest';
import { nearest } from './suggest.ts';

describe('nearest', () => {
  it.each<[word: string, candidates: string[], want: string | undefined]>([
    ['priorty', ['priority', 'prompt'], 'priority'],
    ['naem', ['name', 'team'], 'name'],
    ['Spec', ['spec', 'status'], 'spec'],
    ['timeoutSecond', ['timeoutSeconds', 'title'], 'timeoutSeconds'],
    ['xyzzy', ['name', 'team'], undefined],
    ['a', ['b'], 'b'],
    ['ab', ['yz'], undefined],
    ['', ['name'], undefined],
    ['name', [], undefined],
  ])('%s among %j is %s', (word, candidates, want) => {
    expect(nearest(word, candidates)).toBe(want);
  });
});
