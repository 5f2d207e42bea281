/** Copies with their states, the changes that are told, and mailboxes that hold thousands. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draft, HOUR_MS, mailHome } from './mail.fixture.ts';
import type { Mailbox, MailChange } from './mail.ts';

const states = (mailbox: Mailbox, limit = 1_000) => mailbox.copies({ limit }).map(({ message, state }) => `${message.content} ${state}`);

async function everyState() {
  const home = mailHome();
  const mail = await home.open();
  const heard: string[] = [];
  mail.onChange(({ owner, state, messages, reason }: MailChange) => {
    heard.push(`${owner} ${state} ${messages.map(({ content }) => content).join(',')}${reason ? ` ${reason}` : ''}`);
  });
  const mailbox = await mail.open('u1');
  const ids = new Map<string, string>();
  for (const name of ['seen', 'dead', 'withdrawn', 'delivered', 'accepted']) {
    ids.set(name, (await mailbox.append(draft(name, { key: name }))).message_id);
  }
  const id = (name: string) => ids.get(name) ?? '';
  await mailbox.markDelivered(4);
  await mailbox.ack([id('seen')]);
  await mailbox.giveUp([id('dead')], 'MadeRoom');
  await mailbox.withdraw('withdrawn');
  return { home, mail, mailbox, heard, id };
}

it('passes a message on with the JSON that was written, also where something else was written with it', async () => {
  const home = mailHome();
  const mailbox = await (await home.open()).open('u1');
  const first = await mailbox.append(draft('first'));
  const [, , ...messages] = await Promise.all([
    mailbox.markDelivered(first.seq),
    mailbox.ack([first.message_id]),
    mailbox.append(draft('grüße "quoted"\n', { key: 'k' })),
    mailbox.append(draft('later')),
  ]);
  const { jsons } = home.appended.at(-1) ?? { jsons: [] };
  expect(jsons.map((json) => JSON.parse(json))).toEqual(messages);
  const again = await (await home.open()).open('u1');
  expect(again.read({ after: 1, limit: 2 })).toEqual(messages);
});

describe('copies', () => {
  it('are there with their states, oldest first, after a restart too; withdrawn ones never were', async () => {
    const { home, mailbox } = await everyState();
    const expected = ['seen Seen', 'dead DeadLetter', 'delivered Delivered', 'accepted Accepted'];
    expect(states(mailbox)).toEqual(expected);
    const again = await (await home.open()).open('u1');
    expect(states(again)).toEqual(expected);
    expect(states(again, 2)).toEqual(expected.slice(2));
    expect(again.copies({ limit: 1, isWanted: ({ state }) => state === 'Seen' })).toMatchObject([{ message: { content: 'seen' } }]);
  });

  it('change nothing by being looked at', async () => {
    const { home, mailbox } = await everyState();
    const bytes = () => readFileSync(join(home.directory, 'u1.jsonl'), 'utf8');
    const [before, state] = [bytes(), mailbox.state];
    states(mailbox);
    mailbox.read({ after: 0, limit: 100, unackedOnly: true });
    expect([bytes(), mailbox.state]).toEqual([before, state]);
  });

  it('are known by their ids for as long as they can be read back', async () => {
    const { home, mail, mailbox, id } = await everyState();
    expect(['seen', 'dead', 'accepted'].map((name) => mailbox.has(id(name)))).toEqual([true, true, true]);
    expect(mailbox.has('no-such-id')).toBe(false);
    home.pass(24 * HOUR_MS);
    await mail.sweep();
    expect(mailbox.has(id('seen'))).toBe(false);
  });
});

describe('changes', () => {
  it('are told once each is on disk, with what changed', async () => {
    const { heard, mailbox, id, mail } = await everyState();
    await mailbox.ack([id('seen'), id('dead')]);
    await mailbox.markDelivered(4);
    await mail.remove('u1');
    expect(heard.slice(5)).toEqual([
      'u1 Delivered seen,dead,withdrawn,delivered',
      'u1 Seen seen',
      'u1 DeadLetter dead MadeRoom',
      'u1 Withdrawn withdrawn',
      'u1 DeadLetter delivered,accepted RecipientGone',
    ]);
  });

  it('reach the others when one listener fails, and nobody after he is gone', async () => {
    const mail = await mailHome().open();
    const heard: string[] = [];
    mail.onChange(() => {
      throw new Error('no');
    });
    const stop = mail.onChange(({ state }) => heard.push(state));
    const mailbox = await mail.open('u1');
    await mailbox.append(draft('a'));
    stop();
    await mailbox.append(draft('b'));
    expect(heard).toEqual(['Accepted']);
  });
});

describe('a mailbox with another bound', () => {
  const many = async (mailbox: Mailbox, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => mailbox.append(draft(`m${i}`), { maxUnacked: 1_000 })));

  it('takes that many, keeps only some in memory, and gives all of them', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    const sent = await many(mailbox, 1_000);
    expect(sent.map(({ content, seq }) => [content, seq])).toEqual(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, i + 1]));
    await expect(mailbox.append(draft('one more'), { maxUnacked: 1_000 })).rejects.toMatchObject({ code: 'InboxFull' });
    await expect(mailbox.append(draft('one more'))).rejects.toMatchObject({ code: 'InboxFull', message: expect.stringContaining('100') });
    const again = await (await home.open()).open('u1');
    expect(again.read({ after: 0, limit: 2_000 }).map(({ content }) => content)).toEqual(sent.map(({ content }) => content));
    await again.ack(sent.slice(0, 999).map(({ message_id }) => message_id));
    expect(again.state).toMatchObject({ unacked: 1, ackedSeq: 999, nextSeq: 1_001 });
    expect(again.read({ after: 0, limit: 9, unackedOnly: true })).toMatchObject([{ content: 'm999' }]);
  });

  it('serves the rest when a line that is not in memory is damaged', async () => {
    const home = mailHome();
    await many(await (await home.open()).open('u1'), 400);
    await (await home.open()).close();
    const path = join(home.directory, 'u1.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"content":"m300"', '"content":"m3o0"'));
    const mailbox = await (await home.open()).open('u1');
    expect(mailbox.copies({ limit: 1_000 })).toHaveLength(399);
    expect(home.problems).toMatchObject([{ owner: 'u1', reason: 'JournalCorrupt' }]);
  });
});
