import { describe, expect, it } from 'vitest';
import { Redactor } from './redact.ts';

describe('redaction', () => {
  it.each([
    ['key sk-ant-api03-AbCdEf0123456789xyz in an error', 'key [redacted] in an error'],
    ['sk-proj-0123456789abcdef01234', '[redacted]'],
    ['AIzaSyA0123456789012345678901234567890', '[redacted]'],
    ['ghp_0123456789abcdefghij0123', '[redacted]'],
    ['"authorization: Bearer abcdef.ghijkl"', '"authorization: Bearer [redacted]"'],
    ['cannot clone https://me:hunter2@git.test/x.git', 'cannot clone https://[redacted]@git.test/x.git'],
  ])('finds what looks like a secret: %s', (text, redacted) => {
    expect(new Redactor().redact(text)).toBe(redacted);
  });

  it.each([
    'task sk-1 is done',
    'http://127.0.0.1:3128/agentiso/providers',
    'the bearer of bad news',
    'risk-of-something-long-and-harmless',
  ])('leaves alone: %s', (text) => {
    expect(new Redactor().redact(text)).toBe(text);
  });

  it('finds every value it has learned, the longest first', () => {
    const redactor = new Redactor();
    redactor.learn(['plainword', 'plainword-and-more', 'x']);
    redactor.learn(['another-one']);
    expect(redactor.redact('plainword-and-more plainword another-one x')).toBe('[redacted] [redacted] [redacted] x');
  });
});
