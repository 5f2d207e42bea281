/**
 * Port forwarding in the channels of a WebSocket, as libraries speak it: for the n-th port asked for, channel 2n is data and 2n + 1 what
 * goes wrong; each begins with the port. One connection per port. In our own protocol each side can also end for itself.
 */
import type { Duplex } from 'node:stream';
import { written } from '#lib/drained.ts';
import { messageOf } from '#lib/errors.ts';
import { HALF_CLOSING } from '#lib/forward-protocol.ts';
import { badRequest } from '../status.ts';
import type { WebSocketConnection } from '../websocket/connection.ts';
import { type Forwarding, portOf } from './forwarding.ts';

const CLOSE = 255;
const MAX_PORTS = 64;

/** Refused as a whole when one of them is none. */
export function portsOf(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('ports').flatMap((value) => value.split(','));
  if (texts.length === 0) throw badRequest('query parameter "ports" is required');
  if (texts.length > MAX_PORTS) throw badRequest(`at most ${MAX_PORTS} ports can be forwarded at once`);
  return texts.map((text) => {
    const port = portOf(text);
    if (port === undefined) throw badRequest(`query parameter "ports" has ${JSON.stringify(text)}, which is no port; 1 to 65535 is one`);
    return port;
  });
}

export interface ChannelForwarding extends Forwarding {
  readonly connection: WebSocketConnection;
  readonly ports: readonly number[];
  readonly protocol: string;
}

export async function forwardChannels({ connection, ports, protocol, agentIo, agent, signal }: ChannelForwarding): Promise<void> {
  const gone = new AbortController();
  const both = AbortSignal.any([signal, gone.signal]);
  const targets = ports.map((port) => agentIo.portForward(agent, port, both));
  // Whoever sends to a port that cannot be reached is told on its error channel.
  for (const target of targets) target.catch(() => {});
  const isHalfClosed = protocol === HALF_CLOSING;
  const serving = Promise.all(
    ports.map((port, index) => serveTarget({ connection, port, index, isHalfClosed }, targets[index] as Promise<Duplex>)),
  ).then(() => connection.close(1000));
  for await (const message of connection.messages()) await take(message, targets);
  gone.abort();
  for (const target of targets) target.then((each) => each.destroy()).catch(() => {});
  await serving;
}

async function take(message: Buffer, targets: readonly Promise<Duplex>[]): Promise<void> {
  const [channel = 0, closed = 0] = message;
  const isClose = channel === CLOSE;
  const target = await targets[(isClose ? closed : channel) / 2]?.catch(() => undefined);
  if (!target) return;
  if (isClose) target.end();
  else await written(target, message.subarray(1));
}

interface Place {
  readonly connection: WebSocketConnection;
  readonly port: number;
  readonly index: number;
  readonly isHalfClosed: boolean;
}

/** Resolves when nothing more comes from there. */
async function serveTarget({ connection, port, index, isHalfClosed }: Place, opening: Promise<Duplex>): Promise<void> {
  const data = Buffer.from([index * 2]);
  const errors = Buffer.from([index * 2 + 1]);
  const head = Buffer.from([port & 0xff, port >> 8]);
  connection.send(data, head);
  connection.send(errors, head);
  try {
    const target = await opening;
    target.on('error', () => {});
    for await (const chunk of target.iterator({ destroyOnReturn: false })) {
      if (!connection.send(data, chunk as Buffer)) await connection.drained();
    }
    if (isHalfClosed) {
      connection.send(Buffer.from([CLOSE, index * 2]));
      await closed(target);
    }
  } catch (error) {
    connection.send(errors, Buffer.from(messageOf(error)));
  }
}

function closed(target: Duplex): Promise<void> {
  return target.closed ? Promise.resolve() : new Promise((resolve) => target.on('close', () => resolve()));
}
