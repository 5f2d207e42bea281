/** What the guest sends, over a real connection: how many calls it takes, in which order, and whose answer is whose. */
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { Channel } from '#protocol/channel.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { MAX_SENT_TOGETHER, relayToGuest, relayToHost } from '#protocol/relay.ts';
import { type SocketPair, socketPair } from '../../test/support/socket-pair.ts';
import { FakeHost } from './fake-host.fixture.ts';
import { HostLink } from './link.ts';

let host: FakeHost;
let link: HostLink;
let pair: SocketPair;

beforeEach(async () => {
  host = new FakeHost();
  link = new HostLink();
  pair = await connect(link);
});

afterEach(() => pair.destroy());

/** `known`: what the host at the other end answers. */
async function connect(to: HostLink, known: object = relayToHost): Promise<SocketPair> {
  const joined = await socketPair();
  onTestFinished(() => joined.destroy());
  host.join(joined.far, known as typeof relayToHost);
  to.attach(new Channel(joined.near, { outgoing: relayToHost, incoming: relayToGuest, handlers: {} as never }));
  return joined;
}

const send = (content: string, more: object = {}, options: object = {}) =>
  link.call('teamMessage', { to: 'ann', content, ...more }, options);
const contents = () => host.sent.map(({ content }) => content);

it('sends what comes in one turn in one call, with an answer for each; what comes alone goes alone', async () => {
  const answers = await Promise.all(['a', 'b', 'c'].map((content) => send(content)));
  expect(host.calls).toEqual([3]);
  expect(contents()).toEqual(['a', 'b', 'c']);
  expect(answers.map(({ message_id }) => message_id)).toEqual(['accepted-1', 'accepted-2', 'accepted-3']);
  expect(answers[0]).toEqual({ message_id: 'accepted-1', state: 'Accepted', delivered: false });
  await send('d');
  expect(host.calls).toEqual([3, 1]);
});

it('tells each message on its own what it is refused for', async () => {
  const [first, second, third] = await Promise.allSettled([send('a'), send('b', { to: 'nobody' }), send('c')]);
  expect([first.status, third.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(second).toMatchObject({ reason: { code: 'NotFound', message: 'there is no agent nobody' } });
  expect(second.status === 'rejected' && second.reason).toBeInstanceOf(ProtocolError);
});

it('keeps the order, also with what goes alone: a long one, one to everybody, another verb', async () => {
  const long = 'x'.repeat(100_000);
  const asked: number[] = [];
  host.answers = {
    getBudget: async () => {
      asked.push(host.sent.length);
      throw new ProtocolError('Unavailable', 'enough');
    },
  };
  const budget = () => link.call('getBudget', {}).catch(() => {});
  await Promise.all([send('a'), send('b'), send(long), send('c'), send('d', { to: '*' }), send('e'), send('f'), budget(), send('g')]);
  expect(contents()).toEqual(['a', 'b', long, 'c', 'd', 'e', 'f', 'g']);
  expect(host.calls).toEqual([2, 1, 1, 1, 2, 1]);
  expect(asked).toEqual([7]);
});

it('sends many in calls of as many as the host takes; more of them than it takes calls do not end the connection', async () => {
  const wanted = Array.from({ length: 4 * MAX_SENT_TOGETHER + 44 }, (_, at) => `${at}`);
  await Promise.all(wanted.map((content) => send(content)));
  expect(host.calls).toEqual([...Array.from({ length: 4 }, () => MAX_SENT_TOGETHER), 44]);
  expect(contents()).toEqual(wanted);
});

it('keeps the connection and the order also when more long ones are sent at once than it takes calls, which go one by one', async () => {
  const long = 'x'.repeat(9_000);
  const wanted = Array.from({ length: 600 }, (_, at) => `${at} ${long}`);
  await Promise.all(wanted.map((content) => send(content)));
  expect(host.calls).toHaveLength(600);
  expect(contents()).toEqual(wanted);
});

it('lets what waits for its turn be given up, by its sender or with the connection', async () => {
  const gone = new AbortController();
  host.answers = { getBudget: () => new Promise(() => {}) };
  const asked = Array.from({ length: 300 }, (_, at) => link.call('getBudget', {}, at === 250 ? { signal: gone.signal } : {}));
  const outcomes = Promise.allSettled(asked);
  await vi.waitFor(() => expect(host.asked).toHaveLength(200), { timeout: 10_000, interval: 5 });
  // What the guest says by itself does not wait for them.
  await link.call('teamAck', { storedSeq: 0, seen: [] });
  gone.abort(new Error('gone'));
  await expect(asked[250]).rejects.toThrow('gone');
  pair.destroy();
  const codes = (await outcomes).map((each) => (each.status === 'rejected' ? (each.reason.code ?? each.reason.message) : 'answered'));
  expect([codes[250], ...new Set(codes.filter((_, at) => at !== 250))]).toEqual(['gone', 'Unavailable']);
  expect(host.asked).toHaveLength(200);
  pair = await connect(link);
  await send('and all places are free again');
  expect(contents()).toEqual(['and all places are free again']);
});

it('gives up the one whose sender has gone, and no other', async () => {
  const gone = new AbortController();
  const sent = Promise.allSettled([send('a'), send('b', {}, { signal: gone.signal }), send('c')]);
  process.nextTick(() => gone.abort(new Error('gone')));
  expect((await sent).map((each) => (each.status === 'rejected' ? each.reason.message : 'sent'))).toEqual(['sent', 'gone', 'sent']);
});

it('sends one by one to a host that knows no other way', async () => {
  const { teamMessages: _, ...before } = relayToHost;
  pair.destroy();
  pair = await connect(link, before);
  const answers = await Promise.all(['a', 'b'].map((content) => send(content)));
  expect(host.calls).toEqual([1, 1]);
  expect(contents()).toEqual(['a', 'b']);
  expect(answers).toHaveLength(2);
});

it('says so at once where there is no host, and to all of them when it goes away', async () => {
  const nobody = new HostLink();
  await expect(nobody.call('teamMessage', { to: 'ann', content: 'a' })).rejects.toMatchObject({ code: 'Unavailable' });
  const sent = Promise.allSettled([send('a'), send('b')]);
  pair.destroy();
  expect((await sent).map((each) => each.status === 'rejected' && each.reason.code)).toEqual(['Unavailable', 'Unavailable']);
});

it.each([
  ['in its text', (long: string) => ({ metadata: { a: long.slice(1) } })],
  ['in what it names', (long: string) => ({ reply_to: long.repeat(20) })],
])('keeps the order when many of one turn, long %s, are more than a frame together', async (_, more) => {
  const long = '\u0001'.repeat(8 * 1024 - 4);
  const together = Array.from({ length: MAX_SENT_TOGETHER - 1 }, (_, at) => `${at}`.padStart(4, '0') + long);
  // The last one is so long that it goes alone, at once.
  const wanted = [...together, `last${'x'.repeat(9_000)}`];
  await Promise.all(wanted.map((content, at) => send(content, at < together.length ? more(long) : {})));
  expect(contents().map((content) => content.slice(0, 4))).toEqual(wanted.map((content) => content.slice(0, 4)));
});

it('sends one by one what would be too much for a frame together', async () => {
  const long = '\u0001'.repeat(8 * 1024);
  await Promise.all(Array.from({ length: MAX_SENT_TOGETHER }, () => send(long, { metadata: { a: long.slice(1) } })));
  expect(host.calls).toEqual(Array.from({ length: MAX_SENT_TOGETHER }, () => 1));
});
