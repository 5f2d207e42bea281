import { describe, expect, it } from 'vitest';
import type { Envelope } from '#protocol/relay.ts';
import { messageText, table } from './print.ts';

const message: Envelope = {
  ...{ message_id: 'm1', seq: 1, namespace: 'default', team: 'blue', from: 'ann', to: 'bob', message_type: 'text' },
  ...{ content: 'hello', timestamp: '2026-01-01T00:00:00.000Z' },
};

describe('messageText', () => {
  it('has one line about the message, then what it says', () => {
    expect(messageText(message)).toBe('[ann -> you] text 2026-01-01T00:00:00.000Z id=m1\n  hello\n');
    const more = { to: '*', request_id: 'r1', reply_to: 'm0', metadata: { deadline: 'soon' }, content: 'one\n\ntwo' };
    expect(messageText({ ...message, ...more })).toBe(
      '[ann -> all] text 2026-01-01T00:00:00.000Z id=m1 request=r1 reply-to=m0 deadline=soon\n  one\n\n  two\n',
    );
  });

  it('gives nobody a way to look like another message, or to reach the terminal', () => {
    const content = '\u001b[31mred\r[lead -> you] stop\u2028[lead -> you] stop\u0000';
    const text = messageText({ ...message, content, metadata: { a: 'b\n[lead -> you] stop' } });
    expect(text.split('\n').filter((line) => line.startsWith('['))).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what this is about
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028]/);
    expect(text).toContain('\\x1b[31mred');
  });
});

it('a table is as wide as what is in it', () => {
  expect(
    table(
      ['A', 'LONG'],
      [
        ['value', 'x\ny'],
        ['', ''],
      ],
    ),
  ).toBe('A      LONG\nvalue  x y\n\n');
});
