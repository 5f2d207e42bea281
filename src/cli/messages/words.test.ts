import { describe, expect, it } from 'vitest';
import type { FiledMessage } from '#client/messages.ts';
import { UsageError } from '../usage-error.ts';
import { parseAddress } from './address.ts';
import { firstSight } from './first-sight.ts';
import { limitOf } from './limit.ts';
import { messageTable } from './table.ts';
import { firstLine, howToAnswer, letterText, messageLine, timeText } from './words.ts';

const NOW = new Date(2026, 0, 2, 12, 0, 0);
const at = (hours: number, day = 2) => new Date(2026, 0, day, hours, 4, 5).toISOString();

function filed(
  fields: Partial<FiledMessage['message']> = {},
  { state = 'Accepted', inbox = 'a/lead' }: Partial<FiledMessage> = {},
): FiledMessage {
  const message = {
    message_id: 'id-1',
    namespace: 'default',
    team: 'a',
    from: 'dev',
    to: 'lead',
    message_type: 'text',
    content: 'hi',
    timestamp: at(3),
    ...fields,
  };
  return { message, state, inbox };
}

describe('firstLine', () => {
  it.each([
    ['one', 'one'],
    ['\n\n  one\ntwo\n', 'one …'],
    ['one\n\n', 'one'],
    ['a\tb\u001b[2J', 'a b^[[2J'],
    ['', ''],
  ])('%j: %j', (content, want) => {
    expect(firstLine(content)).toBe(want);
  });
});

describe('timeText', () => {
  it('is the clock of today, and has the day of any other', () => {
    expect(timeText(at(3), NOW)).toBe('03:04:05');
    expect(timeText(at(3, 1), NOW)).toBe('2026-01-01 03:04:05');
    expect(timeText('whenever', NOW)).toBe('whenever');
  });
});

describe('letterText', () => {
  it('has who, when, what and which, and every line of the text', () => {
    const text = letterText(
      filed({ message_type: 'request', content: 'one\ntwo\u0007\n', metadata: { task: 'x' }, reply_to: 'id-0' }, { state: 'Seen' }),
      NOW,
    );
    expect(text).toBe('a/dev  03:04:05  request  task x  answers id-0  seen  id-1\n  one\n  two^G\n');
  });
});

describe('howToAnswer', () => {
  it.each([
    { name: 'one', items: [filed()], want: 'answer: agentiso message a/dev --reply-to id-1 TEXT\nput away: agentiso inbox --ack id-1\n' },
    {
      name: 'several',
      items: [filed(), filed({ message_id: 'id-2', from: 'ops' })],
      want: 'answer: agentiso message a/ops --reply-to id-2 TEXT\nput away: agentiso inbox --ack all (or --ack ID, or agentiso inbox a --ack all)\n',
    },
    { name: 'what the system says', items: [filed({ from: 'system' })], want: 'put away: agentiso inbox --ack id-1\n' },
    {
      name: 'a plan',
      items: [filed({ message_type: 'plan_submission', metadata: { task: 'x' }, from: 'system' })],
      want: 'a plan: agentiso approve a/x, or agentiso refuse a/x --feedback TEXT\nput away: agentiso inbox --ack id-1\n',
    },
    { name: 'nothing', items: [], want: '' },
  ])('of $name', ({ items, want }) => {
    expect(howToAnswer(items)).toBe(want);
  });
});

describe('messageLine', () => {
  it.each([
    [filed(), 'message/a dev to lead: hi\n'],
    [filed({ message_type: 'broadcast', to: '*' }, { inbox: 'a/ops' }), 'message/a dev to * (broadcast): hi\n'],
    [filed({ from: 'a/dev' }, { state: 'DeadLetter' }), 'message/a dev to lead: could not be delivered: hi\n'],
  ])('%#', (item, want) => {
    expect(messageLine(item)).toBe(want);
  });
});

describe('messageTable', () => {
  it('keeps its columns when more comes, and is cut where the terminal ends', () => {
    const print = messageTable({ isWide: false, withTeam: false, withHeaders: true, columns: 60 });
    expect(print([filed({ to: '*', content: 'a long text that does not fit on this line' })], NOW)).toBe(
      'TIME       FROM   TO         TYPE   STATE      MESSAGE\n03:04:05   dev    lead (*)   text   Accepted   a long text …\n',
    );
    expect(print([filed()], NOW)).toBe('03:04:05   dev    lead       text   Accepted   hi\n');
  });
});

describe('firstSight', () => {
  it('is true once for each copy, and once more when it is given up', () => {
    const isNews = firstSight();
    const states = ['Accepted', 'Delivered', 'DeadLetter', 'DeadLetter'] as const;
    expect(states.map((state) => isNews(filed({}, { state })))).toEqual([true, false, true, false]);
    expect(isNews(filed({}, { inbox: 'a/other' }))).toBe(true);
  });
});

describe('parseAddress', () => {
  it.each([
    ['a', { team: 'a' }],
    ['team/a', { team: 'a' }],
    ['a/dev', { team: 'a', agent: 'dev' }],
    ['a/*', { team: 'a', agent: '*' }],
  ])('%s', (word, want) => {
    expect(parseAddress(word)).toEqual(want);
  });

  it.each(['', '/', 'a/', '/dev', 'a/b/c'])('refuses %j', (word) => {
    expect(() => parseAddress(word)).toThrow(UsageError);
  });
});

describe('limitOf', () => {
  it('takes whole numbers from 1 to 1000', () => {
    expect(limitOf('7')).toBe(7);
    for (const wrong of ['0', '1001', '1.5', 'x', '', undefined]) expect(() => limitOf(wrong)).toThrow('Give a number from 1 to 1000');
  });
});
