/** A Redis stream: XADD at one end, a blocked XREAD at the other. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ReceivingEnd, SendingEnd } from './end.ts';
import { RedisConnection, type Reply } from './redis-protocol.ts';

const STREAM = 'messages';
const MAX_READ = '1000';

export async function redisSender(socketPath: string): Promise<SendingEnd> {
  const redis = await open(socketPath);
  return {
    async send(_to, text) {
      await redis.call('XADD', STREAM, '*', 't', text);
    },
  };
}

export async function redisReceiver(socketPath: string): Promise<ReceivingEnd> {
  const redis = await open(socketPath);
  let listener: (text: string) => void = () => {};
  void follow(redis, (text) => listener(text));
  return {
    onText(wanted) {
      listener = wanted;
    },
  };
}

async function follow(redis: RedisConnection, onText: (text: string) => void): Promise<void> {
  for (let last = '0'; ; ) {
    for (const [id, text] of entriesOf(await redis.call('XREAD', 'COUNT', MAX_READ, 'BLOCK', '0', 'STREAMS', STREAM, last))) {
      last = id;
      onText(text);
    }
  }
}

/** `[[stream, [[id, [field, value]], …]]]` */
function entriesOf(reply: Reply): [id: string, text: string][] {
  const streams = reply as [string, [string, [string, string]][]][];
  return streams.flatMap(([, entries]) => entries.map(([id, [, text]]): [string, string] => [id, text]));
}

async function open(socketPath: string): Promise<RedisConnection> {
  const socket = connect(socketPath);
  await once(socket, 'connect');
  return new RedisConnection(socket);
}
