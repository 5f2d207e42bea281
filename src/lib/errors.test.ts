import { describe, expect, it } from 'vitest';
import { AgentisoError, InvalidError, ignoreNotFound, isCode, messageOf, NotFoundError, StalledError, WaitingError } from './errors.ts';

describe('errors', () => {
  it.each([
    { error: new StalledError('NameTaken', 'm'), want: { code: 'Invalid', reason: 'NameTaken', name: 'StalledError' } },
    { error: new WaitingError('BackOff', 'm', 5), want: { code: 'Unavailable', reason: 'BackOff', afterMs: 5 } },
    { error: new NotFoundError('m'), want: { code: 'NotFound', reason: 'NotFound', name: 'NotFoundError' } },
    { error: new InvalidError('m', []), want: { code: 'Invalid', reason: 'Invalid', fields: [] } },
  ])('$want.reason carries code and reason', ({ error, want }) => {
    expect(error).toMatchObject({ ...want, message: 'm' });
    expect(isCode(error, error.code)).toBe(true);
  });

  it('keep their cause', () => {
    const cause = new Error('why');
    expect(new AgentisoError('IoError', 'm', { cause }).cause).toBe(cause);
  });

  it('are ignored only when they say that nothing is there', async () => {
    expect(await ignoreNotFound(Promise.reject(new NotFoundError('m')))).toBeUndefined();
    expect(await ignoreNotFound(Promise.resolve(1))).toBe(1);
    await expect(ignoreNotFound(Promise.reject(new InvalidError('m')))).rejects.toThrow('m');
    await expect(ignoreNotFound(Promise.reject(new Error('NotFound')))).rejects.toThrow('NotFound');
  });

  it('have a message, whatever was thrown', () => {
    expect([messageOf(new Error('m')), messageOf('text'), messageOf(undefined)]).toEqual(['m', 'text', 'undefined']);
  });
});
