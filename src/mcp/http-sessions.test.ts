import { describe, expect, it, vi } from 'vitest';
import { HttpSessions, type KeptSession } from './http-sessions.ts';

function stand(options: { maxPerUser?: number } = {}) {
  let now = 0;
  const kept = new HttpSessions({ maxPerUser: 2, maxIdleMs: 1_000, nowMs: () => now, ...options });
  const open = (id: string, user = 'ann') => {
    const close = vi.fn(async () => kept.forget(session));
    const session = { user, authorization: 'Bearer x', transport: { sessionId: id }, close } as unknown as KeptSession & {
      close: typeof close;
    };
    const done = kept.use(session);
    kept.keep(session);
    return { session, done };
  };
  return { kept, open, pass: (ms: number) => (now += ms) };
}

describe('HttpSessions', () => {
  it('finds what is kept, until it is over', async () => {
    const { kept, open } = stand();
    const { session } = open('a');
    expect(kept.find('a')).toBe(session);
    await session.close();
    expect([kept.find('a'), kept.size]).toEqual([undefined, 0]);
  });

  it('ends what was silent for too long, and nothing that is in use', () => {
    const { kept, open, pass } = stand();
    const [idle, busy] = [open('a'), open('b')];
    idle.done();
    pass(999);
    kept.endIdle();
    expect(idle.session.close).not.toHaveBeenCalled();
    pass(2);
    kept.endIdle();
    expect(idle.session.close).toHaveBeenCalledTimes(1);
    expect(busy.session.close).not.toHaveBeenCalled();
    expect(kept.size).toBe(1);
  });

  it('makes room by ending the one that was silent for the longest time', () => {
    const { kept, open, pass } = stand();
    const [one, two] = [open('a'), open('b')];
    two.done();
    pass(10);
    one.done();
    kept.makeRoom('ann');
    expect([one.session.close.mock.calls.length, two.session.close.mock.calls.length]).toEqual([0, 1]);
  });

  it('refuses one more when all are in use, and only to that user', () => {
    const { kept, open } = stand();
    open('a');
    open('b');
    expect(() => kept.makeRoom('ann')).toThrow(expect.objectContaining({ code: 'RateLimited' }));
    expect(() => kept.makeRoom('bob')).not.toThrow();
  });

  it('ends those of one user, or all', async () => {
    const { kept, open } = stand();
    const [ann, bob] = [open('a'), open('b', 'bob')];
    await kept.end('ann');
    expect([ann.session.close.mock.calls.length, bob.session.close.mock.calls.length]).toEqual([1, 0]);
    await kept.end();
    expect(bob.session.close).toHaveBeenCalledTimes(1);
  });

  it('does not keep what never became a session', () => {
    const { kept } = stand();
    const close = vi.fn(async () => {});
    const done = kept.use({ user: 'ann', authorization: undefined, transport: {}, close } as unknown as KeptSession);
    done();
    expect([close.mock.calls.length, kept.size]).toEqual([1, 0]);
  });
});
