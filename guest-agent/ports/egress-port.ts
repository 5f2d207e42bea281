/** The way out of a virtual machine: there is no socket of the host's to connect to, so the host is asked to connect, once per connection. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Channel } from '#protocol/channel.ts';
import { type EgressToGuest, type EgressToHost, egressToGuest, egressToHost } from '#protocol/egress.ts';
import { greet } from '../handlers/hello.ts';
import { ping } from '../handlers/ping.ts';
import type { GuestIdentity } from '../options.ts';

/** More than the host's proxy serves at once, so that it is the one to say so; less than what one connection may have under way. */
const MAX_CONNECTIONS = 200;

export class EgressPort {
  readonly #identity: GuestIdentity;
  #channel: Channel<EgressToHost, EgressToGuest> | undefined;
  #connections = 0;

  constructor(identity: GuestIdentity) {
    this.#identity = identity;
  }

  /** Ends it at once where no host is there. */
  readonly pass = (inner: Socket): void => {
    // What follows is `close`.
    inner.on('error', () => {});
    const channel = this.#channel;
    if (channel === undefined || this.#connections >= MAX_CONNECTIONS) {
      inner.destroy();
      return;
    }
    this.#connections += 1;
    const hungUp = new AbortController();
    inner.once('close', () => {
      this.#connections -= 1;
      hungUp.abort();
    });
    try {
      const { result, up, down } = channel.open('egressConnect', {}, { signal: hungUp.signal });
      result.catch(() => inner.destroy());
      inner.pipe(up.data);
      down.data.pipe(inner);
    } catch {
      // The host has just hung up.
      inner.destroy();
    }
  };

  /** Whoever listens for the host gives its connections. The newest host that means this guest is the one. */
  readonly serve = (stream: Duplex): void => {
    const channel: Channel<EgressToHost, EgressToGuest> = new Channel(stream, {
      outgoing: egressToHost,
      incoming: egressToGuest,
      handlers: {
        ping,
        hello: async (params) => {
          const result = greet(this.#identity, params);
          this.#channel = channel;
          return result;
        },
      },
    });
    void channel.closed.then(() => {
      if (this.#channel === channel) this.#channel = undefined;
    });
  };
}
