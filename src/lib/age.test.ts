import { describe, expect, it } from 'vitest';
import { ageOf, humanDuration } from './age.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

describe('humanDuration', () => {
  it.each([
    [-2 * S, '<invalid>'],
    [-1999, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [999, '0s'],
    [S, '1s'],
    [2 * M - 1, '119s'],
    [2 * M, '2m'],
    [2 * M + S, '2m1s'],
    [10 * M - 1, '9m59s'],
    [10 * M, '10m'],
    [10 * M + 59 * S, '10m'],
    [3 * H - 1, '179m'],
    [3 * H, '3h'],
    [3 * H + M, '3h1m'],
    [8 * H - 1, '7h59m'],
    [8 * H, '8h'],
    [48 * H - 1, '47h'],
    [48 * H, '2d'],
    [49 * H, '2d1h'],
    [8 * D - 1, '7d23h'],
    [8 * D, '8d'],
    [2 * Y - 1, '729d'],
    [2 * Y, '2y'],
    [2 * Y + D, '2y1d'],
    [8 * Y - 1, '7y364d'],
    [8 * Y, '8y'],
    [100 * Y + 300 * D, '100y'],
    [Number.NaN, '<invalid>'],
  ])('says %d ms as %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});

describe('ageOf', () => {
  const now = new Date('2026-11-16T12:00:00.500Z');

  it.each([
    [undefined, '<unknown>'],
    [null, '<unknown>'],
    ['', '<unknown>'],
    ['0001-01-01T00:00:00Z', '<unknown>'],
    ['yesterday', '<invalid>'],
    ['2026-11-16', '<invalid>'],
    ['2026-13-16T11:59:00Z', '<invalid>'],
    ['2026-11-16T11:59:00Z', '60s'],
    ['2026-11-16T13:59:00+02:00', '60s'],
    ['2026-11-16T11:59:00.000000Z', '60s'],
    ['2026-11-16T12:00:01Z', '0s'],
    ['2026-11-16T12:00:03Z', '<invalid>'],
  ])('of %s is %s', (timestamp, age) => {
    expect(ageOf(timestamp, now)).toBe(age);
  });
});
