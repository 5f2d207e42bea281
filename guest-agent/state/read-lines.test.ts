import { describe, expect, it } from 'vitest';
import { count } from '#protocol/shape.ts';
import { readLines } from './read-lines.ts';

const read = (content: string) => {
  const { spoiled, ...found } = readLines(Buffer.from(content), (value) => count(value, 'record'));
  return { ...found, spoiled: spoiled.map(({ line }) => line) };
};
const room = '\n'.repeat(50);

describe('lines of a journal', () => {
  it.each([
    ['nothing', '', [], 0, false, []],
    ['whole lines', '1\n2\n', [1, 2], 4, false, []],
    ['room behind them', `1\n2\n${room}`, [1, 2], 4, false, []],
    ['nothing but room', room, [], 0, false, []],
    ['a line without its end', '1\n2', [1], 2, true, []],
    ['a torn line before room', `1\n"2${room}`, [1], 2, true, []],
    ['zeros at the end', '1\n\0\0\0', [1], 2, true, []],
    ['a spoiled line before another write', '1\nx\n3\n', [1, 3], 6, false, [2]],
    ['a spoiled line at the end of a finished file', '1\nx\n', [1], 4, false, [2]],
    ['a spoiled line of a write that another one follows', '1\nx\n 3\n4\n', [1, 3, 4], 9, false, [2]],
    ['a write of several lines', '1\n2\n 3\n 4\n', [1, 2, 3, 4], 10, false, []],
    ['a write whose first line is torn', `1\nx\n 3\n 4\n${room}`, [1], 2, true, []],
    ['a write whose middle is torn', `1\n2\n x\n 4\n${room}`, [1, 2], 4, true, []],
    ['a write whose middle is missing', `1\n2\n x\n\n\n\n4"\n 5\n${room}`, [1, 2], 4, true, []],
    ['a finished write with a spoiled line', '1\n2\n x\n 4\n', [1, 2, 4], 10, false, [3]],
  ])('%s', (_, content, records, end, isTorn, spoiled) => {
    expect(read(content)).toEqual({ records, end, isTorn, spoiled });
  });
});
