/** The priority of a task: a number, or one of the words for it. */
import { priorityOf } from '#api/priority-words.ts';
import { described, integer, parser } from '#protocol/shape.ts';

const number = integer({ min: 1, max: 5 });

export const priority = described(
  parser(
    (value, what) => number(priorityOf(value), what),
    () => ({ anyOf: [number.schema(), { type: 'string', enum: ['critical', 'high', 'medium', 'low'] }] }),
  ),
  'Order among tasks that could start: 1 (first, critical), 2 (high), 3 (medium, the default), 4 (low), 5 (last).',
);
