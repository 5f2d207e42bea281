import { expect, it } from 'vitest';
import { createProgress, type ProgressParams } from './progress.ts';

function progress(token?: string) {
  const sent: ProgressParams[] = [];
  return { sent, progress: createProgress(token, (params) => void sent.push(params)) };
}

it('tells nobody who did not ask', () => {
  const { sent, progress: quiet } = progress();
  quiet.tell('a');
  expect(sent).toEqual([]);
});

it('counts up by itself', () => {
  const { sent, progress: told } = progress('t');
  told.tell('a');
  told.tell('b');
  expect(sent).toEqual([
    { progressToken: 't', progress: 1, message: 'a' },
    { progressToken: 't', progress: 2, message: 'b' },
  ]);
});

it('goes up with every word, also when nothing more is done', () => {
  const { sent, progress: told } = progress('t');
  for (const count of [0, 1, 1, 1, 3, 3]) told.tell('x', { of: 3, count });
  const numbers = sent.map((params) => params.progress);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers[4]).toBe(3);
  for (const params of sent) expect(params.total).toBeGreaterThanOrEqual(params.progress);
});

it('is silent after the answer', () => {
  const { sent, progress: told } = progress('t');
  told.end();
  told.tell('late');
  expect(sent).toEqual([]);
});
