import { describe, expect, it } from 'vitest';
import { isGoMicroTime, isGoTime, toGoMicroTime, toGoTime } from './go-time.ts';

describe('times of Kubernetes', () => {
  it.each([
    ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.000000Z'],
    ['2020-01-02T03:04:05.5+01:00', '2020-01-02T02:04:05Z', '2020-01-02T02:04:05.500000Z'],
    ['2020-01-02T03:04:05.123456789Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z'],
    ['2020-02-29T23:59:59-05:00', '2020-03-01T04:59:59Z', '2020-03-01T04:59:59.000000Z'],
  ])('%s is written in UTC', (given, time, microTime) => {
    expect([isGoTime(given), toGoTime(given), toGoMicroTime(given)]).toEqual([true, time, microTime]);
  });

  it('have six digits of a second, or none', () => {
    const of = (fraction: string) => isGoMicroTime(`2020-01-02T03:04:05${fraction}+01:00`);
    expect(['', '.5', '.123456', '.123456789'].map(of)).toEqual([false, false, true, false]);
  });

  it.each(['', 'soon', '2020-01-02', '2020-01-02T03:04:05', '2020-13-02T03:04:05Z', '2021-02-29T03:04:05Z', '2020-01-02T25:04:05Z'])(
    '%j is none, and stays as it is',
    (given) => {
      expect([isGoTime(given), toGoTime(given), toGoMicroTime(given)]).toEqual([false, given, given]);
    },
  );
});
