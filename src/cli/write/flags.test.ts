import { describe, expect, it } from 'vitest';
import { dryRunOf, durationMs, fieldValidationOf } from './flags.ts';

describe('durationMs', () => {
  it.each([
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['0', 0],
    ['0s', 0],
    ['45', 45_000],
    ['-1s', -1000],
  ])('%s is %d ms', (text, want) => {
    expect(durationMs(text, '--timeout')).toBe(want);
  });

  it.each(['', 'soon', '5 s', '1d', 's'])('refuses %j and says what it would take', (text) => {
    expect(() => durationMs(text, '--timeout')).toThrow(`invalid argument "${text}" for "--timeout" flag: expected a duration such as 30s`);
  });
});

it.each([
  [undefined, 'none'],
  [true, 'client'],
  ['client', 'client'],
  ['server', 'server'],
  ['none', 'none'],
])('--dry-run given as %j is %s', (dryRun, want) => {
  expect(dryRunOf(dryRun === undefined ? {} : { dryRun })).toBe(want);
});

it.each([
  [undefined, 'Strict'],
  [true, 'Strict'],
  ['strict', 'Strict'],
  ['true', 'Strict'],
  ['warn', 'Warn'],
  ['ignore', 'Ignore'],
  ['false', 'Ignore'],
])('--validate given as %j is %s', (validate, want) => {
  expect(fieldValidationOf(validate === undefined ? {} : { validate })).toBe(want);
});
