/** One end of a way, or what stands in its middle, as a process of its own; the benchmark talks to it over the channel of its parent. */
import { optimiseInTime } from '#lib/optimise-in-time.ts';
import { ageMs, READERS, type ReceivingEnd, type SendingEnd, stampedText } from './end.ts';
import { hubReceiver, hubSender, serveHub } from './hub-ends.ts';
import { ourReceiver, ourSender } from './our-ends.ts';
import { serveOurs } from './our-host.ts';
import { redisReceiver, redisSender } from './redis-ends.ts';

export type Way = 'ours' | 'hub' | 'redis';
export type Role = 'middle' | 'sender' | 'receiver';

/** To a sender: send so many, so many of them at once. To a receiver: say when so many have come. */
export interface Order {
  readonly count: number;
  readonly window: number;
}

/** Of a receiver: how old each message was. Of a sender: nothing but that it is done. */
export interface Report {
  readonly agesMs?: readonly number[];
  readonly ready?: true;
  readonly problem?: string;
}

const SENDERS: Record<Way, (place: string) => Promise<SendingEnd>> = { ours: ourSender, hub: hubSender, redis: redisSender };
const RECEIVERS: Record<Way, (place: string) => Promise<ReceivingEnd>> = { ours: ourReceiver, hub: hubReceiver, redis: redisReceiver };

const [way, role, place] = process.argv.slice(2) as [Way, Role, string];
process.on('disconnect', () => process.exit(0));
await begin().catch((error: unknown) => report({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
report({ ready: true });

async function begin(): Promise<void> {
  if (role === 'sender') serveSender(await SENDERS[way](place));
  else if (role === 'receiver') serveReceiver(await RECEIVERS[way](place));
  else if (way === 'ours') await serveAsDaemon(place);
  else await serveHub(place);
}

/** With the settings of the daemon that people start. */
async function serveAsDaemon(place: string): Promise<void> {
  optimiseInTime();
  await serveOurs(place);
}

function serveSender(end: SendingEnd): void {
  let index = 0;
  const sendAll = async ({ count, window }: Order): Promise<void> => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        index += 1;
        // One reader for one message at a time: the same journal each time, as for two agents that talk.
        await end.send(window === 1 ? 0 : index % READERS, stampedText(index));
      }
    };
    await Promise.all(Array.from({ length: window }, worker));
  };
  process.on('message', (order: Order) => {
    sendAll(order).then(
      () => report({}),
      (error: Error) => report({ problem: error.message }),
    );
  });
}

function serveReceiver(end: ReceivingEnd): void {
  let ages: number[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  const answer = () => {
    if (ages.length < wanted) return;
    report({ agesMs: ages });
    ages = [];
    wanted = Number.POSITIVE_INFINITY;
  };
  end.onText((text) => {
    ages.push(ageMs(text));
    answer();
  });
  process.on('message', ({ count }: Order) => {
    wanted = count;
    answer();
  });
}

function report(what: Report): void {
  process.send?.(what);
}
