import { describe, expect, it } from 'vitest';
import { barLine, createProgress } from './progress.ts';

function written(isTerminal: boolean, columns?: number): { text: () => string; progress: ReturnType<typeof createProgress> } {
  let text = '';
  const progress = createProgress({ write: (part) => (text += part), isTerminal, columns });
  return { text: () => text, progress };
}

const steps = [
  { text: 'downloading' },
  { text: 'installing', percent: 0.2 },
  { text: 'installing', percent: 0.4 },
  { text: 'installing', percent: 50 },
];

describe('createProgress', () => {
  it('writes a line for each step where nobody watches', () => {
    const { text, progress } = written(false);
    for (const step of steps) progress.show(step);
    progress.end();
    expect(text()).toBe('downloading\ninstalling\n');
  });

  it('draws over its own line on a terminal, and leaves nothing', () => {
    const { text, progress } = written(true);
    for (const step of steps) progress.show(step);
    progress.end();
    expect(text().split('\r\u001b[K')).toEqual([
      '',
      'downloading',
      '[........................]   0 %  installing',
      '[############............]  50 %  installing',
      '',
    ]);
  });

  it('never wraps a line', () => {
    const { text, progress } = written(true, 20);
    progress.show({ text: 'a long description of a step', percent: 10 });
    expect(text().replace('\r\u001b[K', '')).toHaveLength(19);
  });
});

describe('barLine', () => {
  it.each([
    { percent: -1, want: '  0 %' },
    { percent: 99.9, want: ' 99 %' },
    { percent: 140, want: '100 %' },
  ])('$percent becomes $want', ({ percent, want }) => {
    expect(barLine({ text: 'x', percent })).toContain(want);
  });
});
