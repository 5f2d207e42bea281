import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '#protocol/relay.ts';
import { Inbox } from './inbox.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-inbox-'));
});

const opened: Inbox[] = [];

afterEach(async () => {
  for (const inbox of opened.splice(0)) await inbox.close();
  rmSync(directory, { recursive: true, force: true });
});

function open(): Inbox {
  const inbox = new Inbox(directory, (text) => expect.unreachable(text));
  opened.push(inbox);
  return inbox;
}

function message(seq: number, more: Partial<Envelope> = {}): Envelope {
  const sent = { namespace: 'default', team: 'blue', from: 'ann', to: 'bob', timestamp: '2026-01-01T00:00:00.000Z' };
  return { message_id: `m${seq}`, seq, ...sent, message_type: 'text', content: `text ${seq}`, ...more };
}

const all = { after: 0, limit: 1000 };

describe('Inbox', () => {
  it('holds messages as they came, also after a restart', async () => {
    const first = open();
    const sent = [message(1, { metadata: { a: 'b' }, reply_to: 'm0' }), message(2, { content: 'two\nlines\u2028' })];
    await first.store(sent);
    await first.close();
    const second = open();
    expect(second.read(all)).toEqual(sent);
    expect(second.cursor).toBe(2);
  });

  it('begins anew where a folder is in the place of its file, keeps the folder, and says so', async () => {
    mkdirSync(join(directory, 'inbox.log', 'inside'), { recursive: true });
    const warnings: string[] = [];
    const inbox = new Inbox(directory, (text) => warnings.push(text));
    opened.push(inbox);
    await inbox.store([message(1)]);
    expect(inbox.cursor).toBe(1);
    const [aside = ''] = readdirSync(directory).filter((name) => name.startsWith('inbox.log.aside-'));
    expect(readdirSync(join(directory, aside))).toEqual(['inside']);
    expect(warnings).toEqual([`${join(directory, 'inbox.log')} is a folder; it was set aside as ${join(directory, aside)}`]);
  });

  it('reads from after a seq, up to a limit, and consumes nothing', async () => {
    const inbox = open();
    await inbox.store([message(1), message(2), message(3)]);
    expect(inbox.read({ after: 1, limit: 1 }).map(({ seq }) => seq)).toEqual([2]);
    expect(inbox.read(all)).toHaveLength(3);
  });

  it('drops what is at or before its cursor, and an id it has had, but moves on behind it', async () => {
    const inbox = open();
    await inbox.store([message(2), message(1)]);
    await inbox.store([message(1), message(2, { content: 'another' }), message(3, { message_id: 'm1' }), message(4)]);
    expect(inbox.read(all).map(({ content }) => content)).toEqual(['text 1', 'text 2', 'text 4']);
    expect(inbox.cursor).toBe(4);
  });

  it('keeps assignments out of sight and moves behind them', async () => {
    const inbox = open();
    await inbox.store([message(1, { message_type: 'task_assignment' }), message(2)]);
    expect(inbox.read(all).map(({ seq }) => seq)).toEqual([2]);
    expect(inbox.knows('m1')).toBe(true);
  });

  it('never drops what was not seen, whatever was seen around it and however much comes after it', async () => {
    const first = open();
    await first.store(Array.from({ length: 100 }, (_, index) => message(index + 1)));
    await first.markSeen(Array.from({ length: 99 }, (_, index) => `m${index + 2}`));
    // The host knows, but its answer is still under way: it takes a hundred more for an agent that has one unread.
    for (let seq = 101; seq <= 250; seq += 1) await first.store([message(seq)]);
    await first.close();
    const second = open();
    expect(second.unseen().map(({ seq }) => seq)).toEqual([1, ...Array.from({ length: 150 }, (_, index) => index + 101)]);
    expect(second.unreported()).toHaveLength(99);
  });

  it('lets go of what the host knows to be seen, remembers a thousand ids, and stays small', async () => {
    const first = open();
    for (let seq = 1; seq <= 3000; seq += 10) {
      const messages = Array.from({ length: 10 }, (_, index) => message(seq + index, { content: 'x'.repeat(2000) }));
      await first.store(messages);
      if (seq > 2900) continue;
      await first.markSeen(messages.map(({ message_id }) => message_id));
      await first.markReported(first.unreported());
    }
    await first.close();
    expect(statSync(join(directory, 'inbox.log')).size).toBeLessThan(2_000_000);
    const inbox = open();
    expect(inbox.read(all)).toHaveLength(100);
    expect(inbox.read(all).at(-1)?.seq).toBe(3000);
    expect([inbox.knows('m2000'), inbox.knows('m2001'), inbox.knows('m3000')]).toEqual([false, true, true]);
    expect(inbox.cursor).toBe(3000);
  });

  it('says when messages for the agent have come, to those who still listen', async () => {
    const inbox = open();
    let heard = 0;
    const stop = inbox.onMail(() => {
      heard += 1;
      expect(inbox.unseen()).not.toEqual([]);
    });
    await inbox.store([message(1, { message_type: 'task_assignment' })]);
    expect(heard).toBe(0);
    await inbox.store([message(2), message(3)]);
    expect(heard).toBe(1);
    stop();
    await inbox.store([message(4)]);
    expect(heard).toBe(1);
  });

  it('takes the same acknowledgement twice, and knows what never was here', async () => {
    const inbox = open();
    await inbox.store([message(1), message(2)]);
    expect(await inbox.markSeen(['m1', 'nobody'])).toEqual(['nobody']);
    expect(inbox.unseen().map(({ seq }) => seq)).toEqual([2]);
    expect(await inbox.markSeen(['m1'])).toEqual([]);
    await inbox.markReported(['m1']);
    expect(await inbox.markSeen(['m1'])).toEqual([]);
    expect(inbox.unreported()).toEqual([]);
  });

  it('remembers what was seen until the host knows it', async () => {
    const first = open();
    await first.store([message(1), message(2)]);
    expect(await first.markSeen(['m2', 'm9'])).toEqual(['m9']);
    await first.close();
    const second = open();
    expect(second.unreported()).toEqual(['m2']);
    await second.markReported(['m2']);
    await second.close();
    const third = open();
    expect(third.unreported()).toEqual([]);
    expect(third.read(all).map(({ seq }) => seq)).toEqual([1]);
    expect(third.knows('m2')).toBe(true);
  });

  describe('what was seen before it is stored', () => {
    it('is remembered as seen, in its order among the others, without its text', async () => {
      const inbox = open();
      const sent = [1, 2, 3, 4, 5, 6].map((seq) => message(seq, seq === 3 ? { message_type: 'task_assignment' } : {}));
      inbox.take(sent);
      const seen = inbox.markSeen(['m1', 'm2', 'm4', 'm6']);
      await inbox.store(sent);
      expect(await seen).toEqual([]);
      const expectIt = (at: Inbox) => {
        expect([at.cursor, at.unseen().map(({ seq }) => seq)]).toEqual([6, [5]]);
        expect(at.unreported()).toEqual(['m1', 'm2', 'm4', 'm6']);
        expect(sent.every(({ message_id }) => at.knows(message_id))).toBe(true);
      };
      expectIt(inbox);
      await inbox.close();
      const text = readFileSync(join(directory, 'inbox.log'), 'utf8');
      expect([text.includes('text 5'), text.includes('text 1'), text.includes('text 6')]).toEqual([true, false, false]);
      const second = open();
      expectIt(second);
      // They do not come again, and are gone once the host knows.
      await second.store(sent);
      expectIt(second);
      await second.markReported(['m1', 'm2', 'm4', 'm6']);
      expect([second.unreported(), second.read(all).map(({ seq }) => seq)]).toEqual([[], [5]]);
    });

    it('is still to be reported when the file was made anew meanwhile', async () => {
      const inbox = new Inbox(directory, (text) => expect.unreachable(text), { minCompactBytes: 100 });
      opened.push(inbox);
      const sent = Array.from({ length: 20 }, (_, at) => message(at + 1));
      inbox.take(sent.slice(0, 10));
      const seen = inbox.markSeen(sent.slice(0, 10).map(({ message_id }) => message_id));
      await inbox.store(sent.slice(0, 10));
      await seen;
      for (const each of sent.slice(10)) await inbox.store([each]);
      await inbox.close();
      const again = open();
      expect(again.unreported()).toEqual(sent.slice(0, 10).map(({ message_id }) => message_id));
      expect([again.cursor, again.unseen().length]).toEqual([20, 10]);
    });

    it('is seen also when that is said while it is being stored', async () => {
      const inbox = open();
      inbox.take([message(1)]);
      const stored = inbox.store([message(1)]);
      const seen = inbox.markSeen(['m1']);
      await Promise.all([stored, seen]);
      await inbox.close();
      expect([open().unseen(), open().unreported()]).toEqual([[], ['m1']]);
    });
  });

  describe('what has come and is not stored yet', () => {
    it('can be read, in its place, and is gone with the guest', async () => {
      const first = open();
      await first.store([message(1)]);
      let heard = 0;
      first.onMail(() => {
        heard += 1;
      });
      first.take([message(2, { message_type: 'task_assignment' }), message(3), message(5)]);
      expect(heard).toBe(1);
      expect(first.unseen().map(({ seq }) => seq)).toEqual([1, 3]);
      expect([first.cursor, first.lastSeq]).toEqual([1, 3]);
      await first.close();
      const second = open();
      expect(second.unseen().map(({ seq }) => seq)).toEqual([1]);
      expect(second.lastSeq).toBe(1);
    });

    it('is told of once, and is there once, whatever comes first', async () => {
      const inbox = open();
      let heard = 0;
      inbox.onMail(() => {
        heard += 1;
        expect(inbox.read(all).map(({ seq }) => seq)).toEqual(heard === 1 ? [1, 2] : [1, 2, 3]);
      });
      inbox.take([message(1), message(2)]);
      inbox.take([message(1), message(2)]);
      await inbox.store([message(1), message(2)]);
      inbox.take([message(2)]);
      expect(heard).toBe(1);
      await inbox.store([message(3)]);
      expect(heard).toBe(2);
    });

    it('is seen when it is stored, with one write', async () => {
      const first = open();
      await first.store([message(1)]);
      first.take([message(2), message(3)]);
      let isMarked = false;
      const marked = first.markSeen(['m1', 'm2']).then((unknown) => {
        isMarked = true;
        return unknown;
      });
      expect(first.unseen().map(({ seq }) => seq)).toEqual([1, 3]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(isMarked).toBe(false);
      await first.store([message(2), message(3)]);
      const written = readFileSync(join(directory, 'inbox.log'), 'utf8').split('\n').filter(Boolean);
      expect(written.at(-2)).toContain('"read","seq":2,"ids":["m2"]');
      // A space in front: it is one write with the line before.
      expect(written.at(-1)).toMatch(/^ .*"message_id":"m3"/);
      expect(await marked).toEqual([]);
      await first.close();
      expect(
        open()
          .unseen()
          .map(({ seq }) => seq),
      ).toEqual([3]);
    });

    it('is not seen when it could not be stored, and is shown again', async () => {
      const inbox = open();
      inbox.take([message(1)]);
      const marked = inbox.markSeen(['m1']);
      mkdirSync(join(directory, 'inbox.log'));
      await expect(inbox.store([message(1)])).rejects.toThrow('EISDIR');
      await expect(marked).rejects.toThrow('EISDIR');
      expect(inbox.unseen().map(({ seq }) => seq)).toEqual([1]);
      rmdirSync(join(directory, 'inbox.log'));
      const again = inbox.markSeen(['m1']);
      await inbox.store([message(1)]);
      expect(await again).toEqual([]);
      expect(inbox.unreported()).toEqual(['m1']);
    });

    it('is seen when that is said while it is being written', async () => {
      const inbox = open();
      inbox.take([message(1), message(2)]);
      const storing = inbox.store([message(1)]);
      expect(await inbox.markSeen(['m1'])).toEqual([]);
      await storing;
      expect(inbox.unreported()).toEqual(['m1']);
      expect(inbox.unseen().map(({ seq }) => seq)).toEqual([2]);
    });

    it('is let go when the host has taken it back before it was stored', async () => {
      const inbox = open();
      inbox.take([message(1)]);
      const marked = inbox.markSeen(['m1']);
      await inbox.store([message(2)]);
      expect(await marked).toEqual(['m1']);
      expect(inbox.read(all).map(({ seq }) => seq)).toEqual([2]);
    });
  });
});
