/** Our guests' part of the way: the relay connection of the real guest agent, and its inbox on disk. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Channel } from '#protocol/channel.ts';
import { GENERATION, type HelloParams } from '#protocol/common.ts';
import { control } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type Envelope, type RelayToGuest, type RelayToHost, relayToGuest, relayToHost } from '#protocol/relay.ts';
import { HostLink } from '../../../guest-agent/relay/link.ts';
import { Receiver } from '../../../guest-agent/relay/receiver.ts';
import { Inbox } from '../../../guest-agent/state/inbox.ts';
import type { ReceivingEnd, SendingEnd } from './end.ts';
import { MEMBERS, type Member, readerName, SENDER, socketOf, stateOf } from './team.ts';

const FULL_RETRY_MS = 1;

export async function ourSender(dir: string): Promise<SendingEnd> {
  const host = new HostLink();
  await listen(dir, SENDER, host, async () => {});
  const send = async (to: string, content: string): Promise<void> => {
    try {
      await host.call('teamMessage', { to, content });
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'InboxFull') throw error;
      await delay(FULL_RETRY_MS);
      await send(to, content);
    }
  };
  return { send: (to, text) => send(readerName(to), text) };
}

export async function ourReceiver(dir: string): Promise<ReceivingEnd> {
  let onText: (text: string) => void = () => {};
  for (const member of MEMBERS) {
    if (member !== SENDER) await openReader(dir, member, (text) => onText(text));
  }
  return {
    onText(listener) {
      onText = listener;
    },
  };
}

/** A reader that looks as soon as something has come, and says at once that it has seen it. */
async function openReader(dir: string, member: Member, onText: (text: string) => void): Promise<void> {
  mkdirSync(stateOf(dir, member), { recursive: true });
  const host = new HostLink();
  const warn = (text: string) => void process.stderr.write(`${text}\n`);
  const inbox = new Inbox(stateOf(dir, member), warn);
  const receiver = new Receiver({ inbox, host, takeAssignments: async () => {}, onDrained: () => {}, warn });
  host.add(receiver);
  let seenSeq = 0;
  inbox.onMail(() => {
    const fresh = inbox.read({ after: seenSeq, limit: 1_000 });
    for (const { content, seq } of fresh) {
      seenSeq = seq;
      onText(content);
    }
    void inbox.markSeen(fresh.map(({ message_id }) => message_id)).then(() => receiver.report());
  });
  await listen(dir, member, host, (nextSeq, messages) => {
    receiver.hint(nextSeq, messages);
    return receiver.taken();
  });
}

/** Both sockets of a guest, of which the host needs the relay only. */
async function listen(
  dir: string,
  member: Member,
  host: HostLink,
  hint: (nextSeq: number, messages?: readonly Envelope[]) => Promise<void>,
): Promise<void> {
  const hello = async ({ generation: _, ...identity }: HelloParams) => ({ generation: GENERATION, version: 'bench', ...identity });
  const ping = async () => ({ version: 'bench', generation: GENERATION, uptimeMs: 0 });
  const serveRelay = (socket: Socket) => {
    const channel: Channel<RelayToHost, RelayToGuest> = new Channel(socket, {
      outgoing: relayToHost,
      incoming: relayToGuest,
      handlers: {
        ping,
        async hello(params) {
          host.attach(channel);
          return hello(params);
        },
        async messageHint({ nextSeq, messages }) {
          await hint(nextSeq, messages);
          return {};
        },
      },
    });
  };
  const serveControl = (socket: Socket) =>
    void new Channel(socket, { outgoing: {}, incoming: control, handlers: { hello, ping } as never });
  for (const [port, serve] of [
    ['relay', serveRelay],
    ['control', serveControl],
  ] as const) {
    await once(createServer(serve).listen(socketOf(dir, member, port)), 'listening');
  }
}
