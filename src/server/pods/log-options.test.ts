import { describe, expect, it } from 'vitest';
import { logQuery } from './log-options.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const ask = (query: string) => logQuery(new URLSearchParams(query), 'a', NOW);

describe('options of a log', () => {
  it.each([
    ['', { follow: false, timestamps: false }],
    ['follow=true&timestamps=1&previous=true', { follow: true, timestamps: true, previous: true }],
    ['tailLines=0&limitBytes=5', { follow: false, timestamps: false, tailLines: 0, limitBytes: 5 }],
    ['sinceSeconds=60', { follow: false, timestamps: false, sinceMs: NOW - 60_000 }],
    ['sinceTime=2026-01-01T00:00:00Z', { follow: false, timestamps: false, sinceMs: NOW - 60_000 }],
  ])('%s', (query, expected) => {
    expect(ask(query)).toEqual(expected);
  });

  it.each([
    ['tailLines=-1', 'PodLogOptions "a" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'PodLogOptions "a" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z', 'at most one of `sinceTime` or `sinceSeconds` may be specified'],
    ['tailLines=-1&limitBytes=0', 'is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: '],
    ['sinceTime=yesterday', 'sinceTime: "yesterday" is no time'],
    ['tailLines=many', 'strconv.ParseInt: parsing "many": invalid syntax'],
  ])('%s is refused', (query, message) => {
    expect(() => ask(query)).toThrow(message);
  });
});
