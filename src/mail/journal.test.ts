/** The journal of a mailbox: torn ends, damaged lines, messages that grow old, and the rewriting of the file. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draft, HOUR_MS, mailHome } from './mail.fixture.ts';
import type { Mailbox } from './mail.ts';

const all = { after: 0, limit: 1_000 };
const contents = (mailbox: Mailbox) => mailbox.read(all).map(({ content }) => content);

async function threeMessages() {
  const home = mailHome();
  const mailbox = await (await home.open()).open('u1');
  const ids: string[] = [];
  for (const content of ['a', 'b', 'c']) ids.push((await mailbox.append(draft(content, { key: content }))).message_id);
  return { home, mailbox, ids, path: join(home.directory, 'u1.jsonl') };
}

describe('opening a journal', () => {
  it('cuts a torn end at every byte and goes on with the number that was never accepted', async () => {
    const { home, path } = await threeMessages();
    await (await home.open()).close();
    const whole = readFileSync(path);
    const start = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let end = start; end < whole.length; end += 7) {
      writeFileSync(path, whole.subarray(0, end));
      const mailbox = await (await home.open()).open('u1');
      expect(contents(mailbox), `cut at ${end}`).toEqual(['a', 'b']);
      expect(await mailbox.append(draft('new'))).toMatchObject({ seq: 3 });
      expect(home.lines('u1')).toHaveLength(3);
    }
    expect(home.problems).toEqual([]);
  });

  it('cuts an end of zeros, or of a line whose middle was never written', async () => {
    const { home, path } = await threeMessages();
    for (const end of ['\0'.repeat(5_000), `{"is":"message",${'\0'.repeat(100)},"crc":"00000000"}\n`]) {
      await (await home.open()).close();
      appendFileSync(path, end);
      const mailbox = await (await home.open()).open('u1');
      expect(contents(mailbox)).toEqual(['a', 'b', 'c']);
      expect(home.lines('u1')).toHaveLength(3);
    }
  });

  it('sets a damaged line aside, says so once, and serves the rest', async () => {
    const { home, path } = await threeMessages();
    await (await home.open()).close();
    const lines = readFileSync(path, 'utf8').split('\n');
    const damaged = lines[1]?.replace('"content":"b"', '"content":"x"') ?? '';
    writeFileSync(path, [lines[0], damaged, lines[2], ''].join('\n'));
    let mailbox = await (await home.open()).open('u1');
    expect(home.problems).toMatchObject([{ owner: 'u1', reason: 'JournalCorrupt', message: expect.stringContaining('u1.jsonl.corrupt') }]);
    expect(readFileSync(`${path}.corrupt`, 'utf8')).toBe(`${damaged}\n`);
    expect(contents(mailbox)).toEqual(['a', 'c']);
    await mailbox.append(draft('d'));
    mailbox = await (await home.open()).open('u1');
    expect(home.problems).toHaveLength(1);
    expect(mailbox.read(all).map(({ seq }) => seq)).toEqual([1, 3, 4]);
    await (await home.open()).remove('u1');
    expect(existsSync(`${path}.corrupt`)).toBe(false);
  });

  it('gives no number twice when the last messages were damaged but are known to be delivered', async () => {
    const { home, mailbox, path } = await threeMessages();
    await mailbox.markDelivered(3);
    await (await home.open()).close();
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [lines[0], lines[1], `${lines[2]} `, lines[3], ''].join('\n'));
    expect(await (await (await home.open()).open('u1')).append(draft('d'))).toMatchObject({ seq: 4 });
  });

  it('reads a large one piece by piece: nothing is lost where pieces meet, and its torn end is cut', async () => {
    const home = mailHome();
    const path = join(home.directory, 'u1.jsonl');
    let mailbox = await (await home.open()).open('u1');
    // Of no length that a piece is a multiple of.
    const texts = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(70_001 + index)}`);
    for (const text of texts) await mailbox.append(draft(text));
    mailbox = await (await home.open()).open('u1');
    expect(contents(mailbox)).toEqual(texts);
    await (await home.open()).close();
    appendFileSync(path, readFileSync(path).subarray(0, 50_000));
    mailbox = await (await home.open()).open('u1');
    expect(contents(mailbox)).toEqual(texts);
    expect(await mailbox.append(draft('next'))).toMatchObject({ seq: 41 });
    expect(home.lines('u1')).toHaveLength(41);
    expect(home.problems).toEqual([]);
  });

  it('removes what an interrupted rewriting left behind', async () => {
    const { home, path } = await threeMessages();
    writeFileSync(`${path}.new`, 'half');
    const mail = await home.open();
    expect(contents(await mail.open('u1'))).toEqual(['a', 'b', 'c']);
    expect(await mail.owners()).toEqual(['u1']);
    expect(existsSync(`${path}.new`)).toBe(false);
  });
});

describe('messages that grow old', () => {
  it('are kept for 24 hours after their ack, then dropped with their key; numbers and counts go on', async () => {
    const { home, ids } = await threeMessages();
    let mail = await home.open();
    let mailbox = await mail.open('u1');
    await mailbox.markDelivered(2);
    await mailbox.ack(ids.slice(0, 2));
    home.pass(24 * HOUR_MS - 1);
    const later = await mailbox.append(draft('later'));
    await mailbox.ack([later.message_id, ids[2] ?? '']);
    await mail.sweep();
    expect(contents(mailbox)).toEqual(['a', 'b', 'c', 'later']);
    home.pass(1);
    await mail.sweep();
    const check = async () => {
      expect(contents(mailbox)).toEqual(['c', 'later']);
      expect(mailbox.state).toEqual({ nextSeq: 5, deliveredSeq: 2, ackedSeq: 4, unacked: 0, deadLetters: 0 });
      expect(await mailbox.append(draft('c again', { key: 'c' }))).toMatchObject({ seq: 3, content: 'c' });
    };
    await check();
    expect(JSON.stringify(home.lines('u1'))).not.toContain(ids[0]);
    mail = await home.open();
    mailbox = await mail.open('u1');
    await check();
    home.pass(25 * HOUR_MS);
    await mail.sweep();
    expect(home.lines('u1')).toHaveLength(2);
    mailbox = await (await home.open()).open('u1');
    expect(await mailbox.append(draft('a again', { key: 'a' }))).toMatchObject({ seq: 5 });
  });

  it('are given up when nobody acked them for 24 hours: told once, never served again, counted for ever', async () => {
    const { home, ids } = await threeMessages();
    let mail = await home.open();
    let mailbox = await mail.open('u1');
    await mailbox.ack([ids[1] ?? '']);
    home.pass(24 * HOUR_MS);
    const fresh = await mailbox.append(draft('fresh'));
    await Promise.all([mail.sweep(), mail.sweep()]);
    await mail.sweep();
    expect(home.letters.map(({ owner, reason, message }) => [owner, reason, message.content])).toEqual([
      ['u1', 'Unacked', 'a'],
      ['u1', 'Unacked', 'c'],
    ]);
    for (let round = 0; round < 3; round++) {
      expect(mailbox.state).toMatchObject({ nextSeq: 5, unacked: 1, deadLetters: 2, ackedSeq: 3 });
      expect(contents(mailbox)).toEqual(['fresh']);
      expect(await mailbox.ack([ids[0] ?? ''])).toEqual({ unknown: [] });
      mail = await home.open();
      mailbox = await mail.open('u1');
    }
    await mailbox.ack([fresh.message_id]);
    home.pass(25 * HOUR_MS);
    await mail.sweep();
    expect(home.lines('u1')).toHaveLength(2);
    expect((await (await home.open()).open('u1')).state).toMatchObject({ nextSeq: 5, deadLetters: 2 });
    expect(home.letters).toHaveLength(2);
  });

  it('can be given up before their time', async () => {
    const { home, ids } = await threeMessages();
    const mailbox = await (await home.open()).open('u1');
    await Promise.all([mailbox.ack([ids[0] ?? '']), mailbox.giveUp(ids.slice(0, 2))]);
    expect(home.letters.map(({ message }) => message.content)).toEqual(['b']);
    expect(contents(mailbox)).toEqual(['a', 'c']);
  });
});

describe('rewriting the journal', () => {
  it('loses nothing that is appended, acked or read while it goes on', async () => {
    const home = mailHome();
    const mail = await home.open();
    const mailbox = await mail.open('u1');
    const body = 'x'.repeat(20_000);
    const old = await Promise.all(Array.from({ length: 90 }, (_, i) => mailbox.append(draft(`${i} ${body}`))));
    await mailbox.ack(old.slice(0, 45).map(({ message_id }) => message_id));
    home.pass(12 * HOUR_MS);
    await mailbox.ack(old.slice(45, 80).map(({ message_id }) => message_id));
    home.pass(12 * HOUR_MS - 1);
    await mailbox.ack(old.slice(80).map(({ message_id }) => message_id));
    home.pass(1);
    const sweeping = mail.sweep();
    let isSwept = false;
    void sweeping.then(() => {
      isSwept = true;
    });
    const added = [];
    for (let i = 0; !isSwept || i < 20; i++) {
      const message = await mailbox.append(draft(`new ${i}`, { key: `n${i}` }));
      added.push(message);
      await mailbox.ack([message.message_id]);
      expect(mailbox.read({ after: 89, limit: 1 })).toEqual(old.slice(89));
    }
    await sweeping;
    const expected = [...old.slice(45), ...added];
    expect(mailbox.read({ after: 0, limit: 100_000 })).toEqual(expected);
    expect(home.lines('u1')[0]).toMatchObject({ is: 'mailbox' });
    const again = await (await home.open()).open('u1');
    expect(again.read({ after: 0, limit: 100_000 })).toEqual(expected);
    expect(again.state).toEqual({ nextSeq: 91 + added.length, deliveredSeq: 0, ackedSeq: 90 + added.length, unacked: 0, deadLetters: 0 });
  });
});
