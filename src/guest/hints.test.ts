import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Envelope, type HintParams, relayToGuest } from '#protocol/relay.ts';
import { Hints } from './hints.ts';

function message(seq: number, content = 'text'): Envelope {
  const sent = { namespace: 'default', team: 'a', from: 'ann', to: 'bob', timestamp: 'now', message_type: 'text' as const };
  return { message_id: `m${seq}`, seq, ...sent, content };
}

function open() {
  const sent: HintParams[] = [];
  const hints = new Hints((json) => sent.push(relayToGuest.messageHint.params(JSON.parse(json), 'hint')));
  const seqs = () => sent.splice(0).map(({ nextSeq, messages }) => [nextSeq, (messages ?? []).map(({ seq }) => seq)]);
  return { hints, seqs };
}

it('of messages that became durable together go as one, in their order and at once, and later ones by themselves', () => {
  const { hints, seqs } = open();
  hints.add(
    4,
    [1, 2, 3].map((seq) => message(seq)),
  );
  expect(seqs()).toEqual([[4, [1, 2, 3]]]);
  hints.add(5);
  expect(seqs()).toEqual([[5, []]]);
});

it('bring small messages along and only tell of large ones and of too many', () => {
  const { hints, seqs } = open();
  const many = (from: number, to: number, content?: string) =>
    Array.from({ length: to - from + 1 }, (_, index) => message(from + index, content));
  hints.add(2, [message(1, 'x'.repeat(17 * 1024))]);
  expect(seqs()).toEqual([[2, []]]);
  hints.add(201, [...many(1, 150), ...many(151, 200, 'x'.repeat(16 * 1024))]);
  const [[nextSeq, carried] = []] = seqs();
  expect([nextSeq, (carried as number[]).length]).toEqual([201, 100]);
  hints.add(51, many(1, 50, 'x'.repeat(16 * 1024)));
  expect(seqs()).toEqual([[201, Array.from({ length: 16 }, (_, index) => index + 1)]]);
});

it('carry a message as it was written where that is at hand', () => {
  const texts: string[] = [];
  const hints = new Hints((json) => texts.push(...((JSON.parse(json) as HintParams).messages?.map(({ content }) => content) ?? [])));
  hints.add(3, [message(1, 'not this'), message(2, 'this')], [JSON.stringify(message(1, 'grüße "quoted"\n'))]);
  expect(texts).toEqual(['grüße "quoted"\n', 'this']);
});

describe('acknowledgements of results', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function answering() {
    const sent: { readonly hint: HintParams; readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
    const hints = new Hints(
      (json) =>
        new Promise<void>((answer, fail) => sent.push({ hint: relayToGuest.messageHint.params(JSON.parse(json), 'hint'), answer, fail })),
    );
    return { hints, sent };
  }

  it('go with the next hint, and are through when that is answered', async () => {
    const { hints, sent } = answering();
    let isThrough = false;
    const told = hints.accept([{ taskUid: 'a', attempt: 1 }]).then(() => {
      isThrough = true;
    });
    expect(sent).toEqual([]);
    hints.add(2, [message(1)]);
    expect(sent.map(({ hint }) => [hint.nextSeq, hint.messages?.length, hint.accepted])).toEqual([[2, 1, [{ taskUid: 'a', attempt: 1 }]]]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([isThrough, sent.length]).toEqual([false, 1]);
    sent[0]?.answer();
    await told;
  });

  it('go by themselves where no hint comes, and fail with theirs', async () => {
    const { hints, sent } = answering();
    const told = Promise.all([hints.accept([{ taskUid: 'a', attempt: 1 }]), hints.accept([{ taskUid: 'b', attempt: 2 }])]);
    await vi.advanceTimersByTimeAsync(200);
    expect(sent.map(({ hint }) => hint)).toEqual([
      {
        nextSeq: 0,
        accepted: [
          { taskUid: 'a', attempt: 1 },
          { taskUid: 'b', attempt: 2 },
        ],
      },
    ]);
    sent[0]?.fail(new Error('hung up'));
    await expect(told).rejects.toThrow('hung up');
  });

  it('are never more than a guest takes at once', async () => {
    const { hints, sent } = answering();
    for (let index = 0; index < 150; index++) void hints.accept([{ taskUid: `t${index}`, attempt: 1 }]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent.map(({ hint }) => hint.accepted?.length)).toEqual([100, 50]);
  });
});

it('wait while the guest has not answered many of them, and go together when it has', async () => {
  const sent: { readonly hint: HintParams; readonly answer: () => void }[] = [];
  const hints = new Hints((json) => new Promise<void>((answer) => sent.push({ hint: JSON.parse(json), answer })));
  for (let seq = 1; seq <= 40; seq++) {
    hints.add(seq + 1, [message(seq)]);
    await new Promise(setImmediate);
  }
  const open = sent.length;
  expect(open).toBeLessThan(40);
  sent[0]?.answer();
  await new Promise(setImmediate);
  const last = sent.at(-1)?.hint;
  expect([sent.length, last?.nextSeq]).toEqual([open + 1, 41]);
  expect(last?.messages?.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 - open }, (_, index) => open + index + 1));
});
