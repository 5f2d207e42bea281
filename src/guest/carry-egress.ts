/** The host's side of a machine's way out: each connection that a program there makes to its proxy is made here in its place. */
import type { Duplex } from 'node:stream';
import { messageOf } from '#lib/errors.ts';
import { carry } from '#protocol/carry.ts';
import { Channel } from '#protocol/channel.ts';
import { egressToGuest, egressToHost } from '#protocol/egress.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type GuestIdentity, greet, toAgentisoError } from './handshake.ts';
import { type Connected, Lifeline } from './lifeline.ts';

export interface EgressOptions extends GuestIdentity {
  /** To the machine's port. Rejects where nobody is there now; it is asked again. */
  connect(signal: AbortSignal): Promise<Duplex>;
  /** To the agent's proxy, whose socket is its identity. Both directions end on their own. */
  dialProxy(signal: AbortSignal): Promise<Duplex>;
}

export interface CarriedEgress {
  close(reason: string): void;
}

/** For as long as it is wanted: a connection that is lost is made again. */
export function carryEgress(options: EgressOptions): CarriedEgress {
  return new Lifeline({ connect: (signal) => serveEgress(options, signal), onChange: () => {} });
}

async function serveEgress({ connect, dialProxy, id, incarnation }: EgressOptions, signal: AbortSignal): Promise<Connected> {
  const stream = await connect(signal);
  const channel = new Channel(stream, {
    outgoing: egressToGuest,
    incoming: egressToHost,
    handlers: {
      async egressConnect(_, context) {
        await greeting;
        const proxy = await dialProxy(context.signal).catch((error: unknown) => {
          throw new ProtocolError('Unavailable', `the proxy cannot be reached: ${messageOf(error)}`, error);
        });
        await carry(proxy, context, 'the connection to the proxy');
        return {};
      },
    },
  });
  const greeting = greet(channel, { id, incarnation, signal });
  await greeting;
  return {
    closed: channel.closed.then(toAgentisoError),
    close: (reason) => channel.close(new ProtocolError('Unavailable', reason)),
  };
}
