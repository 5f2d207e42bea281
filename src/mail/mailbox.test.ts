/** A mailbox as its users see it: order, numbers, bounds, keys, acks, and the same again after a restart. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { draft, mailHome } from './mail.fixture.ts';
import type { Envelope } from './mail.ts';
import { openMail } from './open-mail.ts';

const contents = (messages: readonly Envelope[]) => messages.map(({ content }) => content);
const all = { after: 0, limit: 1_000 };

describe('appending', () => {
  it('gives each message an id, the next number and the time, and keeps every field of the draft', async () => {
    const mail = await mailHome().open();
    const mailbox = await mail.open('u1');
    const full = draft('hello', { from_incarnation: 'i', metadata: { a: 'b' }, request_id: 'r', reply_to: 'm' });
    const message = await mailbox.append(full);
    expect(message).toEqual({
      ...full,
      seq: 1,
      message_id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      timestamp: '2026-01-01T00:00:00.000Z',
    });
    expect(await mailbox.append(draft('second'))).toMatchObject({ seq: 2 });
    expect(() => Object.assign(message, { content: 'changed' })).toThrow(TypeError);
    expect(() => Object.assign(message.metadata ?? {}, { a: 'changed' })).toThrow(TypeError);
  });

  it('writes messages that come together in the order they came, without a gap', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    const sent = await Promise.all(Array.from({ length: 90 }, (_, i) => mailbox.append(draft(`m${i}`))));
    expect(sent.map(({ seq }) => seq)).toEqual(Array.from({ length: 90 }, (_, i) => i + 1));
    expect(contents(mailbox.read(all))).toEqual(Array.from({ length: 90 }, (_, i) => `m${i}`));
    expect(home.appended.flatMap(({ messages }) => messages)).toEqual(sent);
    expect(home.appended.at(-1)?.nextSeq).toBe(91);
  });

  it('takes one of many without a promise: in order with the others, and what is refused is told in its place', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      const put = (content: string) =>
        mailbox.put(draft(content), {
          accepted: (message) => {
            // On disk: whoever opens the journal now finds it.
            told.push(`${message.seq} ${message.content}`);
            if (message.content === 'last') resolve();
          },
          refused: (error) => told.push((error as { code: string }).code),
        });
      put('first');
      void mailbox.append(draft('second'));
      put('x'.repeat(300 * 1024));
      put('last');
    });
    expect(told).toEqual(['TooLarge', '1 first', '3 last']);
    expect(contents(mailbox.read(all))).toEqual(['first', 'second', 'last']);
    await mailbox.close();
    await new Promise<void>((resolve) => {
      mailbox.put(draft('too late'), { accepted: () => expect.unreachable(), refused: () => resolve() });
    });
    expect(contents((await (await home.open()).open('u1')).read(all))).toEqual(['first', 'second', 'last']);
  });

  it('is passed on when it is on disk, before anybody else hears of it; whoever fails at that fails nobody else', async () => {
    const { directory, lines } = mailHome();
    const told: string[] = [];
    const mail = openMail({
      directory,
      log: silentLogger,
      onAppended({ owner, nextSeq, messages }) {
        told.push(`${owner} ${contents(messages)} before ${nextSeq}, ${lines('u1').length} on disk`);
        throw new Error('no');
      },
    });
    onTestFinished(() => mail.close());
    mail.onChange(({ state, messages }) => void told.push(`${state} ${contents(messages)}`));
    const mailbox = await mail.open('u1');
    for (const text of ['a', 'b']) await mailbox.append(draft(text)).then(({ content }) => told.push(`${content} accepted`));
    expect(told).toEqual(['u1 a before 2, 1 on disk', 'Accepted a', 'a accepted', 'u1 b before 3, 2 on disk', 'Accepted b', 'b accepted']);
  });

  it('refuses the 101st unacked message until one is acked; nothing is dropped for it', async () => {
    const mailbox = await (await mailHome().open()).open('u1');
    const sends = await Promise.allSettled(Array.from({ length: 105 }, (_, i) => mailbox.append(draft(`msg-${i}`))));
    const refused = sends.flatMap((send) => (send.status === 'rejected' ? [send.reason] : []));
    expect(refused).toHaveLength(5);
    for (const error of refused) expect(error).toMatchObject({ code: 'InboxFull', retryAfterMs: 1_000 });
    expect(contents(mailbox.read(all))).toEqual(Array.from({ length: 100 }, (_, i) => `msg-${i}`));
    expect(mailbox.state.unacked).toBe(100);
    await mailbox.ack([mailbox.read(all)[0]?.message_id ?? '']);
    expect(await mailbox.append(draft('after'))).toMatchObject({ seq: 101 });
    await expect(mailbox.append(draft('full again'))).rejects.toMatchObject({ code: 'InboxFull' });
  });

  it('has room as soon as an ack is there, which stands in the journal before what took the place', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    const sent = await Promise.all(Array.from({ length: 100 }, () => mailbox.append(draft('m'))));
    const [first = '', second = ''] = sent.map(({ message_id }) => message_id);
    // Told twice is acked once, and one that is withdrawn meanwhile leaves once.
    const acks = [mailbox.ack([first]), mailbox.ack([first, second]), mailbox.giveUp([second])];
    const more = await Promise.allSettled(['a', 'b', 'c'].map((content) => mailbox.append(draft(content))));
    expect(more.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await Promise.all(acks);
    expect(mailbox.state).toMatchObject({ unacked: 100, nextSeq: 103 });
    const kinds = home.lines('u1').map(({ is }) => is);
    expect(kinds.indexOf('acked')).toBe(100);
    await expect(mailbox.append(draft('full again'))).rejects.toMatchObject({ code: 'InboxFull' });
  });

  it('counts task assignments apart: a full inbox takes them, and they have a bound of their own', async () => {
    const mailbox = await (await mailHome().open()).open('u1');
    await Promise.all(Array.from({ length: 100 }, () => mailbox.append(draft('m'))));
    const assignment = draft('work', { message_type: 'task_assignment' });
    const sends = await Promise.allSettled(Array.from({ length: 101 }, () => mailbox.append(assignment)));
    expect(sends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(mailbox.state).toMatchObject({ unacked: 100, nextSeq: 201 });
  });

  it.each([
    ['content', draft('x'.repeat(262_144)), draft('x'.repeat(262_145))],
    ['characters of several bytes', draft('ü'.repeat(131_072)), draft(`${'ü'.repeat(131_072)}x`)],
    ['metadata', draft('', { metadata: { k: 'x'.repeat(262_143) } }), draft('x', { metadata: { k: 'x'.repeat(262_143) } })],
  ])('takes 262144 bytes and not one more: %s', async (_, fits, tooLarge) => {
    const mailbox = await (await mailHome().open()).open('u1');
    await expect(mailbox.append(tooLarge)).rejects.toMatchObject({ code: 'TooLarge' });
    expect((await mailbox.append(fits)).content).toBe(fits.content);
  });
});

describe('a key', () => {
  it('gives the first message again: on its way, accepted, acked, after a restart', async () => {
    const home = mailHome();
    let mailbox = await (await home.open()).open('u1');
    const [first, twin] = await Promise.all([mailbox.append(draft('one', { key: 'k' })), mailbox.append(draft('two', { key: 'k' }))]);
    expect(twin).toEqual(first);
    expect(await mailbox.append(draft('three', { key: 'k' }))).toEqual(first);
    await mailbox.ack([first.message_id]);
    expect(await mailbox.append(draft('four', { key: 'k' }))).toEqual(first);
    mailbox = await (await home.open()).open('u1');
    expect(await mailbox.append(draft('five', { key: 'k' }))).toEqual(first);
    expect(mailbox.read(all)).toEqual([first]);
    expect(await mailbox.append(draft('six', { key: 'other' }))).toMatchObject({ seq: 2, content: 'six' });
  });

  it('takes a message back: it is not read again, makes room, and is neither lost nor sent again under its key', async () => {
    const home = mailHome();
    const first = await (await home.open()).open('u1');
    void first.append(draft('a', { key: 'k', message_type: 'task_assignment' }));
    expect(await first.withdraw('k')).toBe(true);
    expect([await first.withdraw('k'), await first.withdraw('none')]).toEqual([false, false]);
    const again = await (await home.open()).open('u1');
    expect(again.read(all)).toEqual([]);
    expect(again.state).toMatchObject({ nextSeq: 2, unacked: 0, deadLetters: 0 });
    expect(await again.append(draft('a', { key: 'k', message_type: 'task_assignment' }))).toMatchObject({ seq: 1 });
    expect([again.read(all), home.letters]).toEqual([[], []]);
  });

  it('takes nothing back that is being acked, and nothing twice', async () => {
    const mailbox = await (await mailHome().open()).open('u1');
    const { message_id } = await mailbox.append(draft('a', { key: 'a' }));
    await mailbox.append(draft('b', { key: 'b' }));
    const [, ...answers] = await Promise.all([mailbox.ack([message_id]), ...['a', 'b', 'b'].map((key) => mailbox.withdraw(key))]);
    expect(answers).toEqual([false, true, false]);
    expect(contents(mailbox.read(all))).toEqual(['a']);
  });

  it('is not part of the message', async () => {
    const mailbox = await (await mailHome().open()).open('u1');
    expect(await mailbox.append(draft('one', { key: 'k' }))).not.toHaveProperty('key');
  });

  it('is the id where the sender gives one: a broadcast tried again reaches each inbox once', async () => {
    const mail = await mailHome().open();
    const copies = [];
    for (const owner of ['u1', 'u2', 'u1'])
      copies.push(await (await mail.open(owner)).append(draft('to all', { to: '*', message_id: 'b-1' })));
    expect(copies.map(({ seq, message_id }) => [seq, message_id])).toEqual(Array(3).fill([1, 'b-1']));
    expect((await mail.open('u1')).state.nextSeq).toBe(2);
  });
});

describe('reading and acking', () => {
  it('reads after a number, up to a limit that counts only what is wanted, and consumes nothing', async () => {
    const mailbox = await (await mailHome().open()).open('u1');
    for (let i = 0; i < 6; i++) await mailbox.append(draft(`m${i}`, i % 2 ? { message_type: 'task_assignment' } : {}));
    const isWanted = ({ message_type }: Envelope) => message_type !== 'task_assignment';
    expect(contents(mailbox.read({ after: 0, limit: 2, isWanted }))).toEqual(['m0', 'm2']);
    expect(contents(mailbox.read({ after: 3, limit: 2 }))).toEqual(['m3', 'm4']);
    expect(contents(mailbox.read({ after: 99, limit: 2 }))).toEqual([]);
    expect(contents(mailbox.read({ after: 0, limit: 0 }))).toEqual([]);
    expect(contents(mailbox.read(all))).toHaveLength(6);
  });

  it('keeps cursor and acks over a restart; an acked message can still be read, unless only unacked ones are asked for', async () => {
    const home = mailHome();
    let mailbox = await (await home.open()).open('u1');
    const sent = [];
    for (let i = 0; i < 4; i++) sent.push(await mailbox.append(draft(`m${i}`)));
    await mailbox.markDelivered(3);
    await mailbox.markDelivered(2);
    const ids = sent.map(({ message_id }) => message_id);
    expect(await mailbox.ack([ids[0] ?? '', 'nobody', ids[2] ?? '', ids[0] ?? ''])).toEqual({ unknown: ['nobody'] });
    const state = { nextSeq: 5, deliveredSeq: 3, ackedSeq: 1, unacked: 2, oldestUnackedAt: '2026-01-01T00:00:00.000Z', deadLetters: 0 };
    expect(mailbox.state).toEqual(state);
    const size = home.lines('u1').length;
    expect(await mailbox.ack([ids[0] ?? ''])).toEqual({ unknown: [] });
    expect(home.lines('u1')).toHaveLength(size);
    mailbox = await (await home.open()).open('u1');
    expect(mailbox.state).toEqual(state);
    expect(mailbox.read(all)).toEqual(sent);
    expect(contents(mailbox.read({ ...all, unackedOnly: true }))).toEqual(['m1', 'm3']);
    await mailbox.ack(ids);
    expect(mailbox.state).toEqual({ nextSeq: 5, deliveredSeq: 3, ackedSeq: 4, unacked: 0, deadLetters: 0 });
  });

  it.each([4, 1.5, Number.NaN])('refuses to have delivered %s of 3 messages', async (seq) => {
    const mailbox = await (await mailHome().open()).open('u1');
    for (let i = 0; i < 3; i++) await mailbox.append(draft('m'));
    await expect(mailbox.markDelivered(seq)).rejects.toMatchObject({ code: 'Invalid' });
  });
});

describe('mailboxes', () => {
  it('are files of their owner only, one per owner, opened once', async () => {
    const home = mailHome();
    const mail = await home.open();
    const [a, again, b] = await Promise.all([mail.open('u1'), mail.open('u1'), mail.open('u2')]);
    expect(a).toBe(again);
    await a.append(draft('for u1'));
    expect(b.read(all)).toEqual([]);
    // One that was only looked into leaves no file.
    expect(await mail.owners()).toEqual(['u1']);
    await b.append(draft('for u2'));
    expect(await mail.owners()).toEqual(['u1', 'u2']);
    expect(statSync(home.directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(home.directory, 'u1.jsonl')).mode & 0o777).toBe(0o600);
  });

  it.each(['', '.', '..', '../u', 'a/b', '.hidden', 'a\0b', 'ü', 'x'.repeat(129)])('refuse the owner %j', async (owner) => {
    const mail = await mailHome().open();
    await expect(mail.open(owner)).rejects.toMatchObject({ code: 'Invalid' });
    await expect(mail.remove(owner)).rejects.toMatchObject({ code: 'Invalid' });
  });

  it('are removed with everything in them; what was not acked is reported, and the next one of the name begins anew', async () => {
    const home = mailHome();
    const mail = await home.open();
    const mailbox = await mail.open('u1');
    const { message_id } = await mailbox.append(draft('read'));
    await mailbox.append(draft('unread'));
    await mailbox.ack([message_id]);
    const [, fresh] = await Promise.all([mail.remove('u1'), mail.open('u1')]);
    expect(home.letters).toMatchObject([{ owner: 'u1', reason: 'RecipientGone', message: { content: 'unread' } }]);
    expect(fresh.state.nextSeq).toBe(1);
    await expect(mailbox.append(draft('too late'))).rejects.toMatchObject({ code: 'Unavailable' });
    await mail.remove('u1');
    await mail.remove('never-there');
    expect(await mail.owners()).toEqual([]);
  });

  it('finish what was sent before they were closed, and take nothing after it', async () => {
    const home = mailHome();
    const mail = await home.open();
    const mailbox = await mail.open('u1');
    const sending = Array.from({ length: 20 }, (_, i) => mailbox.append(draft(`m${i}`)));
    await mail.close();
    expect(await Promise.all(sending)).toHaveLength(20);
    await expect(mailbox.append(draft('late'))).rejects.toMatchObject({ code: 'Unavailable' });
    await expect(mail.open('u1')).rejects.toMatchObject({ code: 'Unavailable' });
    expect(home.lines('u1')).toHaveLength(20);
  });
});
