import { describe, expect, it } from 'vitest';
import { cutText, keepEnd } from './cut.ts';
import { RunFailure } from './failure.ts';
import { nextMove, STANDING_STILL, type TurnEnd, UNSTOPPABLE } from './progress.ts';
import { handOverText, promptText } from './prompt-text.ts';
import { retryTime } from './rate-limit.ts';
import { Repeats } from './repeats.ts';
import { Usage } from './usage.ts';
import { verdictOn } from './verdict.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');

describe('words of a provider', () => {
  it.each([
    ['429 Too Many Requests, retry after 30 seconds', 30],
    ['Error 429: rate_limit_error. Please try again in 2 minutes', 120],
    ['rate limit: retry-after: 90', 90],
    ['{"code":429,"retryDelay":"17s"}', 17],
    ['quota exceeded; resets at 2026-01-01T05:00:00Z', 18_000],
    ['usage limit reached|reset 1767229200', 3_600],
    ['Too many requests', 60],
    ['rate limit, wait 90 days', 7 * 86_400],
    ['429 rate limit reset at 2025-12-31T00:00:00Z', 1],
  ])('%s means so many seconds: %i', (words, seconds) => {
    expect(retryTime(words, NOW)?.getTime()).toBe(NOW.getTime() + seconds * 1_000);
  });

  it.each(['it exited with 1', 'wait 30 seconds', 'line 429 is wrong', 'at run.js:429:7', 'the limit of the rate is 5'])(
    '%s means nothing of the kind',
    (words) => {
      expect(retryTime(words, NOW)).toBeUndefined();
    },
  );
});

describe('what a run came to', () => {
  const end = { failure: undefined, toolCalls: 1, filesChanged: 0, words: 'done' };
  it.each([
    { name: 'done, with a trace', end, want: {} },
    { name: 'done, with files only', end: { ...end, toolCalls: 0, filesChanged: 2 }, want: {} },
    { name: 'said to be done', end: { ...end, toolCalls: 0 }, want: { error: { code: 'NoEvidence' } } },
    {
      name: 'told to wait, in words',
      end: { ...end, toolCalls: 0, words: 'API Error: 429' },
      want: { error: { code: 'RateLimited' }, retryAt: '2026-01-01T00:01:00.000Z' },
    },
    {
      name: 'told to wait, by an error',
      end: { ...end, failure: new RunFailure('AgentError', 'rate limit') },
      want: { error: { code: 'RateLimited', message: 'rate limit' } },
    },
    {
      name: 'cancelled, whatever it said',
      end: { ...end, failure: new RunFailure('Cancelled', 'rate limit') },
      want: { error: { code: 'Cancelled' } },
    },
    {
      name: 'failed, and spoke of limits',
      end: { ...end, words: 'rate limit', failure: new RunFailure('AgentCrashed', 'exit 1') },
      want: { error: { code: 'AgentCrashed' } },
    },
  ])('is $name', ({ end, want }) => {
    expect(verdictOn(end, NOW)).toMatchObject(want);
    if (!('error' in want)) expect(verdictOn(end, NOW)).toEqual({});
  });
});

describe('after a turn', () => {
  const turn = (more: Partial<TurnEnd> = {}): TurnEnd => ({ stopReason: 'max_tokens', treeHash: 'a', calls: ['x'], ...more });
  const same = [turn(), turn(), turn()];
  const never = { nudges: 0, handOvers: 0 };
  it.each([
    { name: 'that ended by itself it is done', turns: [turn({ stopReason: 'end_turn' })], pushes: never, want: 'done' },
    { name: 'that was refused it is over', turns: [turn({ stopReason: 'refusal' })], pushes: never, want: 'refused' },
    { name: 'that was cut off it goes on', turns: [turn(), turn()], pushes: never, want: 'goOn' },
    { name: 'that changed a file it goes on', turns: [turn(), turn(), turn({ treeHash: 'b' })], pushes: never, want: 'goOn' },
    { name: 'that called other tools it goes on', turns: [turn(), turn(), turn({ calls: ['y'] })], pushes: never, want: 'goOn' },
    { name: 'that is like the two before it is nudged', turns: same, pushes: never, want: 'nudge' },
    { name: 'and a nudge that did not help it is handed over', turns: same, pushes: { nudges: 1, handOvers: 0 }, want: 'handOver' },
    { name: 'that was called off it is nudged', turns: [turn({ stopReason: STANDING_STILL })], pushes: never, want: 'nudge' },
    {
      name: 'that was called off again it is handed over',
      turns: [turn({ stopReason: STANDING_STILL })],
      pushes: { nudges: 1, handOvers: 0 },
      want: 'handOver',
    },
    { name: 'that could not be called off it is handed over', turns: [turn({ stopReason: UNSTOPPABLE })], pushes: never, want: 'handOver' },
    {
      name: 'that could not be called off in a new session it is given up',
      turns: [turn({ stopReason: UNSTOPPABLE })],
      pushes: { nudges: 0, handOvers: 1 },
      want: 'giveUp',
    },
    { name: 'and all that it is given up', turns: same, pushes: { nudges: 1, handOvers: 1 }, want: 'giveUp' },
  ])('$name', ({ turns, pushes, want }) => {
    expect(nextMove(turns, pushes)).toBe(want);
  });

  it('of a great many it is given up', () => {
    expect(nextMove([turn()], never, 50)).toBe('giveUp');
  });
});

it('counts the same calls in a row, but not those that wait, nor those whose arguments nobody knows', () => {
  const repeats = new Repeats();
  const add = (what: string | undefined, tookMs = 5) => repeats.add({ what, tookMs });
  expect([add('a'), add('a'), add('b'), add('b'), add('a')]).toEqual([1, 2, 1, 2, 1]);
  expect([add('a', 60_000), add('a'), add('a'), add(undefined), add(undefined), add('a')]).toEqual([0, 1, 2, 0, 0, 1]);
});

it('puts messages in front of a prompt and conventions behind it', () => {
  const parts = { unread: '--- Messages ---\n', text: 'do it', conventions: ' be kind \n' };
  expect(promptText(parts)).toBe('--- Messages ---\n\ndo it\n\n--- Conventions (AGENTS.md) ---\nbe kind\n--- End ---');
  expect(promptText({ unread: '', text: 'do it', conventions: undefined })).toBe('do it');
  expect(handOverText({ prompt: 'do it', lastWords: '', changed: ['a', 'b'] })).toContain(
    'Files changed so far: a, b. Its last words:\n(nothing)',
  );
});

it('adds up what sessions cost, and says nothing where nothing was said', () => {
  const usage = new Usage();
  expect(usage.total).toBeUndefined();
  usage.update({ used: 10, cost: { amount: 1, currency: 'USD' } });
  usage.update({ used: 20, cost: { amount: 2, currency: 'USD' } });
  usage.sessionEnded();
  usage.update({ used: 5, cost: { amount: 0.5, currency: 'USD' } });
  usage.update({ used: 6, cost: { amount: 9, currency: 'EUR' } });
  usage.turn({ usage: { inputTokens: 3, outputTokens: 4 } });
  usage.turn({ usage: 'nonsense' });
  expect(usage.total).toEqual({ inputTokens: 3, outputTokens: 4, costUsd: 2.5, contextTokens: 6 });
});

it('cuts between characters', () => {
  expect([keepEnd('漢字', 4), keepEnd('ab', 4), cutText('ab', 4)]).toEqual(['字', 'ab', 'ab']);
  expect(cutText('漢'.repeat(20), 30)).toBe(`${'漢'.repeat(4)}\n... (truncated)`);
});
