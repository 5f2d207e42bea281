/** How long one durable message takes to its reader, and how many a second there can be. */
import type { BenchContext, Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { perSecond } from '../harness/timing.ts';
import { atLeast, atMost } from '../harness/verdict.ts';
import { openPolledMailbox } from './polled-mailbox.ts';
import { timeSyncs } from './syncs.ts';
import { type OpenWay, openWay } from './way.ts';

const MESSAGES = 200;
const QUICK_MESSAGES = 20;
const WARM_UP = 10_000;
const BURST = 5_000;
const QUICK_BURST = 500;
const WINDOW = 250;
const POLLED = 12;
const QUICK_POLLED = 3;

export const latency: Operation = {
  id: 'latency',
  about:
    'one message of 512 bytes at a time from a process of one guest over the daemon (its mail, post, desk and sessions) to the reader in a process of another guest; the clock stops when the reader has it, which is after it is on the disk of the daemon and may be before it is on that of the guest; the bare hub is two node processes with a third between them that passes lines on and keeps nothing; Redis has appendfsync always, XADD at one end and a blocked XREAD at the other; the polled mailbox is a folder of durable files that is looked at every 500 ms; hub, Redis and ours after 10,000 messages that are not counted',
  rounds: { full: 20, quick: 2 },
  reference: 'hub',
  comparisons: [
    {
      label: 'durable message, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'bare hub + fdatasync', value: (of) => of('hub') + of('sync') },
      goal: atMost(2),
    },
    {
      label: '- against a Redis stream',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'Redis', value: (of) => of('redis') },
      goal: atMost(1.5),
    },
    {
      label: '- against a polled mailbox',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'polled', value: (of) => of('polled') },
      goal: atMost(0.002),
    },
  ],
  async open(context) {
    const count = context.quick ? QUICK_MESSAGES : MESSAGES;
    const ways = await openWays(context);
    for (const way of Object.values(ways)) await way.pass({ count: context.quick ? count : WARM_UP, window: 1 });
    const oneByOne = (way: OpenWay) => async () => median((await way.pass({ count, window: 1 })).agesMs);
    const polled = context.own(openPolledMailbox(context.dir));
    return [
      { name: 'ours', run: oneByOne(ways.ours) },
      { name: 'hub', run: oneByOne(ways.hub) },
      { name: 'redis', run: oneByOne(ways.redis) },
      { name: 'sync', run: async () => timeSyncs(context.dir, count) },
      { name: 'polled', run: () => polled.medianAgeMs(context.quick ? QUICK_POLLED : POLLED, context.random) },
    ];
  },
};

export const rate: Operation = {
  id: 'rate',
  about:
    '250 messages on their way at any time; ours go to ten readers, each of which says that it has seen them; Redis has one stream and one reader; all after five rounds of 5,000 that are not counted',
  rounds: { warmUp: 5, full: 20, quick: 2 },
  reference: 'redis',
  comparisons: [
    {
      label: 'durable messages, window 250',
      unit: 'op/s',
      ours: (of) => of('ours'),
      reference: { name: 'Redis', value: (of) => of('redis') },
      goal: atLeast(0.8),
    },
    { label: '- bare hub', unit: 'op/s', ours: (of) => of('ours'), reference: { name: 'bare hub', value: (of) => of('hub') } },
  ],
  async open(context) {
    const count = context.quick ? QUICK_BURST : BURST;
    const ways = await openWays(context);
    const inBursts = (way: OpenWay) => async () => perSecond(count, (await way.pass({ count, window: WINDOW })).elapsedMs);
    return (['ours', 'hub', 'redis'] as const).map((name) => ({ name, run: inBursts(ways[name]) }));
  },
};

async function openWays(context: BenchContext) {
  // First, because it may be missing: then nothing else has to be started.
  const redis = await openWay('redis', context);
  return { redis, hub: await openWay('hub', context), ours: await openWay('ours', context) };
}
