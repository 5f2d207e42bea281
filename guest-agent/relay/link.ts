/** The host as this guest reaches it: the newest relay connection, if there is one. */
import type { Channel } from '#protocol/channel.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { RelayHostMethodName, RelayHostParams, RelayHostResult, RelayToGuest, RelayToHost } from '#protocol/relay.ts';

const CALL_MS = 10_000;

/** A relay connection, as far as the guest uses it. */
export type RelayChannel = Pick<Channel<RelayToHost, RelayToGuest>, 'call' | 'closed'>;

/** Something that works only while there is a connection. */
export interface Attachment {
  start(): void;
  stop(): void;
}

export class HostLink {
  readonly #attachments: Attachment[] = [];
  #channel: RelayChannel | undefined;
  /** Aborted when another connection takes over: calls on the old one would wait for an answer that may never come. */
  #replaced = new AbortController();

  add(attachment: Attachment): void {
    this.#attachments.push(attachment);
  }

  attach(channel: RelayChannel): void {
    this.#detach();
    this.#channel = channel;
    void channel.closed.then(() => {
      if (this.#channel === channel) this.#detach();
    });
    // The answer to hello goes first: the host takes nothing before it.
    setImmediate(() => {
      if (this.#channel === channel) for (const attachment of this.#attachments) attachment.start();
    });
  }

  /** Rejects with ProtocolError; Unavailable without a connection. */
  async call<M extends RelayHostMethodName>(method: M, params: RelayHostParams<M>): Promise<RelayHostResult<M>> {
    if (this.#channel === undefined) throw new ProtocolError('Unavailable', 'the host is not connected');
    return this.#channel.call(method, params, { signal: this.#replaced.signal, deadlineMs: CALL_MS });
  }

  close(): void {
    this.#detach();
  }

  #detach(): void {
    if (this.#channel === undefined) return;
    this.#channel = undefined;
    for (const attachment of this.#attachments) attachment.stop();
    this.#replaced.abort(new ProtocolError('Unavailable', 'another connection of the host took over'));
    this.#replaced = new AbortController();
  }
}
