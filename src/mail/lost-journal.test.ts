/** A journal that somebody emptied, removed or put back from a backup: nothing starts over in silence, and what comes next arrives. */
import { mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draft, mailHome } from './mail.fixture.ts';

const all = { after: 0, limit: 100 };

async function homeWithThree() {
  const home = mailHome();
  const mail = await home.open();
  const mailbox = await mail.open('u1');
  for (const content of ['a', 'b', 'c']) await mailbox.append(draft(content));
  await mailbox.markDelivered(3);
  await mail.close();
  return { home, path: join(home.directory, 'u1.jsonl') };
}

describe('a mail journal that was lost', () => {
  it.each([
    ['emptied', (path: string) => truncateSync(path)],
    ['removed', (path: string) => rmSync(path)],
  ])('and %s goes on behind the numbers that were given, and says so once', async (_how, lose) => {
    const { home, path } = await homeWithThree();
    lose(path);
    const known = () => ({ nextSeq: 4, unacked: 3 });
    const mailbox = await (await home.open(known)).open('u1');
    expect(await mailbox.append(draft('d'))).toMatchObject({ seq: 4 });
    expect(home.problems).toMatchObject([
      { owner: 'u1', reason: 'JournalCorrupt', message: expect.stringContaining('3 were sent before') },
    ]);
    const again = await (await home.open(known)).open('u1');
    expect(again.read({ after: 3, limit: 10 })).toMatchObject([{ seq: 4, content: 'd' }]);
    expect(home.problems).toHaveLength(1);
  });

  it('to a folder in its place is begun anew behind it, and the folder is kept', async () => {
    const { home, path } = await homeWithThree();
    rmSync(path);
    mkdirSync(join(path, 'inside'), { recursive: true });
    const mail = await home.open(() => ({ nextSeq: 4, unacked: 3 }));
    const mailbox = await mail.open('u1');
    expect(await mailbox.append(draft('d'))).toMatchObject({ seq: 4 });
    const [aside = ''] = readdirSync(home.directory).filter((name) => name.includes('.aside-'));
    expect(readdirSync(join(home.directory, aside))).toEqual(['inside']);
    expect(home.problems.map(({ message }) => message)).toEqual([
      `${path} was a folder; it was set aside as ${join(home.directory, aside)}, and the mailbox begins anew`,
      expect.stringContaining('3 were sent before'),
    ]);
    expect(await mail.owners()).toEqual(['u1']);
  });

  it.each(['', '.corrupt', '.new'])('to a folder in its place goes with its owner: u1.jsonl%s', async (ending) => {
    const { home, path } = await homeWithThree();
    const mail = await home.open();
    rmSync(`${path}${ending}`, { force: true });
    mkdirSync(`${path}${ending}`);
    await mail.remove('u1');
    expect(await mail.owners()).toEqual([]);
  });

  it('gives what came in the meantime a number that its agent takes, once, with the same id and key', async () => {
    const { home, path } = await homeWithThree();
    rmSync(path);
    const mailbox = await (await home.open()).open('u1');
    const { message_id } = await mailbox.append(draft('d', { key: 'k' }));
    const acked = await mailbox.append(draft('e'));
    await mailbox.ack([acked.message_id]);
    await Promise.all([mailbox.skipTo(3), mailbox.skipTo(3)]);
    expect(mailbox.read({ after: 3, limit: 10 })).toMatchObject([{ seq: 4, content: 'd', message_id }]);
    expect(await mailbox.append(draft('d', { key: 'k' }))).toMatchObject({ seq: 4 });
    expect(mailbox.state).toMatchObject({ nextSeq: 5, unacked: 1 });
    expect(home.problems).toHaveLength(1);
    const again = await (await home.open()).open('u1');
    expect(again.read({ ...all, unackedOnly: true })).toMatchObject([{ seq: 4, content: 'd', message_id }]);
    await again.ack([message_id]);
    expect(again.state).toMatchObject({ nextSeq: 5, unacked: 0, ackedSeq: 4 });
  });

  it('believes nobody who is not ahead of it, or ahead beyond reason', async () => {
    const { home } = await homeWithThree();
    const mailbox = await (await home.open(() => ({ nextSeq: 2, unacked: 1 }))).open('u1');
    for (const seq of [0, 2, 3, Number.MAX_SAFE_INTEGER, Number.NaN]) await mailbox.skipTo(seq);
    expect(mailbox.state.nextSeq).toBe(4);
    expect(home.problems).toEqual([]);
  });

  it('of people is missed where they have not seen what was in it', async () => {
    const home = mailHome();
    await (await home.open(() => ({ unacked: 2 }))).open('u1');
    await (await home.open(() => ({ unacked: 0 }))).open('u2');
    expect(home.problems).toMatchObject([{ owner: 'u1', message: expect.stringContaining('2 were not seen yet') }]);
  });
});
