/** The room behind the records of a journal: used without changing the file's size, kept over a crash, cut where a write was torn. */
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draft, HOUR_MS, mailHome } from './mail.fixture.ts';
import type { Envelope, Mailbox } from './mail.ts';
import { encodeRecords, isContinuation } from './record.ts';

const all = { after: 0, limit: 1_000 };
const contents = (mailbox: Mailbox) => mailbox.read(all).map(({ content }) => content);
const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').filter(Boolean);

/** A mailbox with messages in it whose process is gone without a word. */
async function crashed(...messages: readonly string[]) {
  const before = mailHome();
  const mailbox = await (await before.open()).open('u1');
  for (const content of messages) await mailbox.append(draft(content));
  const home = mailHome();
  mkdirSync(home.directory, { recursive: true });
  const path = join(home.directory, 'u1.jsonl');
  copyFileSync(join(before.directory, 'u1.jsonl'), path);
  return { home, path };
}

describe('the room behind the records', () => {
  it('is there while the mailbox is open and gone when it is closed', async () => {
    const home = mailHome();
    const mail = await home.open();
    const mailbox = await mail.open('u1');
    const path = join(home.directory, 'u1.jsonl');
    await mailbox.append(draft('a'));
    const { size } = statSync(path);
    for (const content of ['b', 'c', 'd']) await mailbox.append(draft(content));
    expect(statSync(path).size).toBe(size);
    await mail.close();
    expect(readFileSync(path, 'utf8')).toMatch(/[^\n]\n$/);
    expect(linesOf(path)).toHaveLength(4);
  });

  it('grows with what is written, however large', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    const large = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(40_000)}`);
    for (const content of large) await mailbox.append(draft(content));
    expect(contents(await (await home.open()).open('u1'))).toEqual(large);
  });

  it('is kept over a crash and used by what comes next', async () => {
    const { home, path } = await crashed('a', 'b');
    const { size } = statSync(path);
    const mailbox = await (await home.open()).open('u1');
    expect(contents(mailbox)).toEqual(['a', 'b']);
    expect(await mailbox.append(draft('c'))).toMatchObject({ seq: 3 });
    expect(statSync(path).size).toBe(size);
    expect(contents(await (await home.open()).open('u1'))).toEqual(['a', 'b', 'c']);
    expect(home.problems).toEqual([]);
  });
});

describe('a write of several records', () => {
  const message = (seq: number): Envelope => ({
    message_id: `m${seq}`,
    seq,
    namespace: 'default',
    team: 'web',
    from: 'coder',
    to: 'tester',
    message_type: 'text',
    content: `torn ${seq} `.padEnd(400, 'x'),
    timestamp: '2026-01-01T00:00:00.000Z',
  });

  it('marks all its lines but the first', async () => {
    const home = mailHome();
    const mailbox = await (await home.open()).open('u1');
    await mailbox.append(draft('alone'));
    await Promise.all(['a', 'b', 'c'].map((content) => mailbox.append(draft(content))));
    await mailbox.append(draft('again'));
    const isMarked = linesOf(join(home.directory, 'u1.jsonl')).map((line) => isContinuation(Buffer.from(line)));
    expect(isMarked).toEqual([false, false, true, true, false]);
  });

  it.each([
    ['the first', 0, 0],
    ['the end of the first', 0, 300],
    ['the second', 1, 0],
    ['the end of the second', 1, 300],
    ['the last', 2, 200],
  ])('leaves what stands before %s when that never reached the disk, tells nobody, and loses no number', async (_, torn, from) => {
    const { home, path } = await crashed('a');
    const { data, lengths } = encodeRecords([2, 3, 4].map((seq) => ({ is: 'message', message: message(seq) })));
    const start = lengths.slice(0, torn).reduce((sum, length) => sum + length, 0);
    const file = readFileSync(path);
    const end = file.indexOf('\n') + 1;
    data.copy(file, end);
    // Sectors that kept what was there before.
    file.fill('\n', end + start + from, end + start + from + 150);
    writeFileSync(path, file);
    const mailbox = await (await home.open()).open('u1');
    expect(mailbox.read(all).map(({ seq }) => seq)).toEqual(Array.from({ length: 1 + torn }, (_, index) => index + 1));
    expect(await mailbox.append(draft('next'))).toMatchObject({ seq: 2 + torn });
    expect(mailbox.read(all).at(-1)?.content).toBe('next');
    expect(home.problems).toEqual([]);
    expect(contents(await (await home.open()).open('u1'))).toEqual(contents(mailbox));
  });

  it('that was finished loses nothing but the line that is damaged later', async () => {
    const { home, path } = await crashed('a');
    const batch = encodeRecords([2, 3, 4].map((seq) => ({ is: 'message', message: message(seq) })));
    const later = encodeRecords([{ is: 'message', message: message(5) }]);
    const file = readFileSync(path);
    const end = file.indexOf('\n') + 1;
    batch.data.copy(file, end);
    later.data.copy(file, end + batch.data.length);
    file[end + (batch.lengths[0] ?? 0) + 100] = 0;
    writeFileSync(path, file);
    const mailbox = await (await home.open()).open('u1');
    expect(mailbox.read(all).map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);
    expect(home.problems).toMatchObject([{ reason: 'JournalCorrupt' }]);
  });

  it('is taken apart when the journal is rewritten: every message stands for itself then', async () => {
    const home = mailHome();
    const mail = await home.open();
    const mailbox = await mail.open('u1');
    const sent = await Promise.all(['a', 'b', 'c'].map((content) => mailbox.append(draft(content))));
    await mailbox.ack([sent[0]?.message_id ?? '']);
    home.pass(23 * HOUR_MS);
    await mailbox.ack([sent[1]?.message_id ?? '', sent[2]?.message_id ?? '']);
    home.pass(HOUR_MS);
    await mail.sweep();
    const lines = linesOf(join(home.directory, 'u1.jsonl'));
    expect(lines.some((line) => isContinuation(Buffer.from(line)))).toBe(false);
    expect(contents(mailbox)).toEqual(['b', 'c']);
    expect(contents(await (await home.open()).open('u1'))).toEqual(['b', 'c']);
  });
});

it('an acknowledgement is on disk when it resolves, whether anything else is written or not', async () => {
  const home = mailHome();
  const mailbox = await (await home.open()).open('u1');
  const { message_id } = await mailbox.append(draft('a'));
  await mailbox.ack([message_id]);
  expect(home.lines('u1')).toMatchObject([{ is: 'message' }, { is: 'acked', ids: [message_id] }]);
  const second = await mailbox.append(draft('b'));
  await Promise.all([mailbox.markDelivered(2), mailbox.ack([second.message_id]), mailbox.append(draft('c'))]);
  expect(home.lines('u1').map(({ is }) => is)).toEqual(['message', 'acked', 'message', 'delivered', 'acked', 'message']);
});

it('what is on its way when the mail is closed is written first', async () => {
  const home = mailHome();
  const mail = await home.open();
  const mailbox = await mail.open('u1');
  const { message_id } = await mailbox.append(draft('a'));
  const acking = mailbox.ack([message_id]);
  await mail.close();
  expect(await acking).toEqual({ unknown: [] });
  expect((await (await home.open()).open('u1')).state.unacked).toBe(0);
});
