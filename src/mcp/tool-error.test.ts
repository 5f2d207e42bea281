import { describe, expect, it } from 'vitest';
import { toClientError } from '#client/remote-errors.ts';
import { statusErrorOf } from '#client/status-error.ts';
import { AgentisoError, InvalidError, NotFoundError, UnavailableError } from '#lib/errors.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { toErrorResult } from '#protocol/tool-surface.ts';
import { withHint } from './hints.ts';
import { toToolError } from './tool-error.ts';

const status = (code: number, reason: string, message: string, details: object = {}) =>
  statusErrorOf(code, JSON.stringify({ kind: 'Status', code, reason, message, details }));

describe('toToolError', () => {
  it.each([
    ['a refusal of ours', new AgentisoError('Conflict', 'taken', { hint: 'wait' }), { code: 'Conflict', message: 'taken', hint: 'wait' }],
    [
      'a parser',
      new ProtocolError('Invalid', 'a must be b', undefined, { field: 'a' }),
      { code: 'Invalid', message: 'a must be b', field: 'a' },
    ],
    [
      'rates',
      new AgentisoError('RateLimited', 'slow', { retryAfterMs: 250 }),
      { code: 'RateLimited', message: 'slow', retry_after_ms: 250 },
    ],
    ['the API', status(403, 'Forbidden', 'no'), { code: 'Forbidden', message: 'no' }],
    [
      'the API, busy',
      status(429, 'TooManyRequests', 'later', { retryAfterSeconds: 2 }),
      { code: 'RateLimited', message: 'later', retry_after_ms: 2_000 },
    ],
    [
      'the client over the API',
      toClientError(status(422, 'Invalid', 'bad', { causes: [{ reason: 'FieldValueInvalid', message: 'x', field: 'spec.roles' }] })),
      { code: 'Invalid', message: 'bad', field: 'spec.roles' },
    ],
    [
      'the client over the API, busy',
      toClientError(status(503, 'ServiceUnavailable', 'full', { retryAfterSeconds: 1 })),
      { code: 'Unavailable', message: 'full', retry_after_ms: 1_000 },
    ],
    ['what is not there', new NotFoundError('gone'), { code: 'NotFound', message: 'gone' }],
    [
      'a field of ours',
      new InvalidError('bad', [{ path: 'spec.x', kind: 'Invalid', message: 'm', segments: [] }]),
      { code: 'Invalid', message: 'bad', field: 'spec.x' },
    ],
  ])('%s', (_, error, want) => {
    expect(toToolError(error)).toEqual(want);
  });

  it('says nothing of what nobody foresaw', () => {
    expect(toToolError(new TypeError('x is undefined'))).toBeUndefined();
    expect(toToolError(Object.assign(new Error('ENOENT: open /home/me/.agentiso/x'), { code: 'ENOENT' }))).toBeUndefined();
  });

  it('says nothing of where things are on this machine', () => {
    const error = new UnavailableError('cannot read /home/me/.agentiso/state/x', { hint: 'look at /home/me/.agentiso' });
    expect(toToolError(error, ['/home/me/.agentiso'])).toEqual({
      code: 'Unavailable',
      message: 'cannot read HOME/state/x',
      hint: 'look at HOME',
    });
  });

  it('is short, whatever was said', () => {
    expect(toToolError(new NotFoundError('x'.repeat(100_000)))?.message).toHaveLength(4_096);
  });
});

describe('withHint', () => {
  it('keeps a hint that is there', () => {
    expect(withHint({ code: 'NotFound', message: 'm', hint: 'h' }, 'get').hint).toBe('h');
  });

  it.each(['NotFound', 'Conflict', 'RateLimited', 'Timeout', 'Unavailable', 'Internal', 'Forbidden'])('has one for %s', (code) => {
    expect(withHint({ code, message: 'm' }, 'get').hint).toMatch(/\w/);
  });

  it('points at the schema where nothing else is known', () => {
    expect(withHint({ code: 'Invalid', message: 'm' }, 'team_create').hint).toBe('compare the call with the input schema of team_create');
  });
});

describe('a refusal', () => {
  it.each([
    ...(['Conflict', 'RateLimited', 'InboxFull', 'Unavailable', 'Timeout'] as const).map((code) => ({ code, retryable: true })),
    ...(['Invalid', 'Unauthenticated', 'Forbidden', 'NotFound', 'AlreadyExists', 'FenceLost', 'Expired'] as const).map((code) => ({
      code,
      retryable: false,
    })),
    ...(['TooLarge', 'QuotaExceeded', 'DepthExceeded', 'IoError', 'Internal'] as const).map((code) => ({ code, retryable: false })),
  ])('with $code says whether the same call may pass later: $retryable', ({ code, retryable }) => {
    const known = toToolError(new AgentisoError(code, 'm', { hint: 'h' }));
    expect(known).toBeDefined();
    const [said] = known ? toErrorResult(known).content : [];
    expect(JSON.parse(said?.text ?? '')).toEqual({ error: { code, message: 'm', retryable, hint: 'h' } });
  });
});
